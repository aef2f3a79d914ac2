/* Processor time of the thread that had most of it, on standard error: beside other programs it
   tells more than a clock on the wall.  Threads that wait are to sleep (OMP_WAIT_POLICY=passive).
 */
#include <stdio.h>
#include <time.h>

static void print_busiest(void) {
    double most = 0;
#pragma omp parallel reduction(max : most)
    {
        struct timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        most = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
    }
    fprintf(stderr, "%.6f\n", most);
}

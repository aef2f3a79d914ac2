/* pmodel itself is told to end; see interruption.h. */
#define _GNU_SOURCE
#include "measure/interruption.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/measure.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

static struct sigaction before[N_SIGNALS], before_size;
static const char *volatile folder_to_remove;
static bool has_begun;
static volatile sig_atomic_t came, is_everybodys, n_holds;

static void write_text(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void die_of(int number) {
    signal(number, SIG_DFL);
    raise(number);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/* In a signal handler: a child that shares our memory needs no lock of the C library. */
static void remove_folder(const char *path) {
    pid_t child = vfork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0)
        ;
}

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    is_everybodys = info->si_code == SI_KERNEL;
    came = number;
    if (n_holds)
        return;
    write_text("pmodel: interrupted; what was measured before is in the store\n");
    if (folder_to_remove)
        remove_folder(folder_to_remove);
    die_of(number);
}

/* A write beyond the limit of a file's size then fails like one to a full disk. */
static void ignore(int number) { (void)number; }

void pm_interruption_begin(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    struct sigaction size = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    sigaction(SIGXFSZ, &size, &before_size);
    has_begun = true;
    for (int i = 0; i < N_SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* nohup */
            sigaction(signals[i], &action, NULL);
    }
}

void pm_interruption_end(void) {
    if (!has_begun)
        return;
    sigaction(SIGXFSZ, &before_size, NULL);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    folder_to_remove = NULL;
    has_begun = false;
}

void pm_interruption_removes(const char *folder) { folder_to_remove = folder; }

void pm_interruption_hold(void) { n_holds = n_holds + 1; }
void pm_interruption_release(void) { n_holds = n_holds - 1; }
int pm_interrupting_signal(void) { return came; }
bool pm_interruption_is_everybodys(void) { return is_everybodys; }

void pm_die_of_interruption(void) {
    if (came)
        die_of(came);
}

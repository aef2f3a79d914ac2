// C++ exceptions through instrumented frames with destructors, in threads too.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

struct Guard {
    int value;
    ~Guard() { std::printf("~%d\n", value); }
};

__attribute__((noinline)) static int descend(int n) {
    Guard guard{n};
    if (n == 0)
        throw std::runtime_error("deep");
    return descend(n - 1) + 1;
}

__attribute__((noinline)) static int attempt(int n) {
    try {
        return descend(n);
    } catch (const std::exception &error) {
        std::printf("caught %s\n", error.what());
        return -n;
    }
}

__attribute__((noinline)) static long work(long n) {
    std::vector<long> values(1000);
    long sum = 0;
    for (long i = 0; i < n; i++) {
        values[i % 1000] += i;
        sum += values[(i * 7) % 1000];
    }
    return sum;
}

int main() {
    int result = 0;
    for (int i = 0; i < 4; i++)
        result += attempt(i);
    try {
        descend(2);
    } catch (...) {
        std::puts("any");
    }
    std::printf("result %d\n", result);
    long sums[4];
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&sums, i] {
            sums[i] = work(100000 + i);
            if (i == 2)
                try {
                    throw i;
                } catch (int thrown) {
                    sums[i] += thrown;
                }
        });
    for (auto &thread : threads)
        thread.join();
    std::printf("%ld\n", sums[0] + sums[1] + sums[2] + sums[3]);
    return 3;
}

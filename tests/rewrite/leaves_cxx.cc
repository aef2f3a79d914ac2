// Routines that are left by C++ exceptions, each way on its own: `leaves_cxx WAY`; without an
// argument the ways are listed.  Counts of all basic blocks stay exact.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <thread>

static volatile long sink;

struct CleanUp {
    int value;
    ~CleanUp() { sink = sink + value; }
};

using Bottom = void (*)(int);

// A loop around the call, and something to clean up where DEPTH is odd.
__attribute__((noinline, noipa)) static long descend(int depth, Bottom bottom) {
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += i * depth;
        if (depth == 0) {
            bottom(i);
        } else if (depth % 2) {
            CleanUp guard{depth};
            sum += descend(depth - 1, bottom);
        } else {
            sum += descend(depth - 1, bottom);
        }
        sink = sink + sum;
    }
    return sum;
}

static void throw_number(int i) {
    if (i == 1)
        throw 42;
}

static void by_throw() {
    for (int i = 0; i < 7; i++) {
        try {
            descend(i, throw_number);
        } catch (int number) {
            sink = sink + number;
        }
    }
}

// Caught half way, thrown again, and turned into another.
__attribute__((noinline, noipa)) static void convert(int depth) {
    try {
        descend(depth, throw_number);
    } catch (int number) {
        if (depth % 2)
            throw;
        throw std::runtime_error("converted");
    }
}
static void by_rethrow() {
    for (int i = 0; i < 6; i++) {
        try {
            convert(i);
        } catch (const std::exception &) {
            sink = sink + 1;
        } catch (...) {
            sink = sink + 2;
        }
    }
}

struct Part {
    int value;
    explicit Part(int v) : value(v) {
        if (v == 3)
            descend(2, throw_number);
    }
    ~Part() { sink = sink + value; }
};
struct Whole {
    Part a, b, c;
    explicit Whole(int v) : a(v), b(v + 1), c(v + 2) {}
};
static void by_constructor() {
    for (int i = 0; i < 5; i++) {
        try {
            Whole *whole = new Whole(i);
            delete whole;
        } catch (int number) {
            sink = sink + number;
        }
    }
}

// A destructor that throws and catches while another exception is on its way.
struct Busy {
    ~Busy() {
        try {
            descend(1, throw_number);
        } catch (int number) {
            sink = sink + number;
        }
    }
};
__attribute__((noinline, noipa)) static void busy(int depth) {
    Busy one;
    descend(depth, throw_number);
}
static void by_destructor() {
    for (int i = 0; i < 4; i++) {
        try {
            busy(i);
        } catch (int number) {
            sink = sink + number;
        }
    }
}

static int compare(const void *left, const void *right) {
    int a = *static_cast<const int *>(left), b = *static_cast<const int *>(right);
    if (a == 20 && b != 20)
        descend(1, throw_number);
    return (a > b) - (a < b);
}
static void by_callback() {
    for (int round = 0; round < 3; round++) {
        int values[64];
        for (int i = 0; i < 64; i++)
            values[i] = (i * 37 + round) % 64;
        try {
            std::qsort(values, 64, sizeof *values, compare);
        } catch (int number) {
            sink = sink + number;
        }
    }
}

static void by_thread() {
    for (int i = 0; i < 4; i++) {
        std::exception_ptr caught;
        std::thread thread([&caught, i] {
            try {
                descend(i, throw_number);
            } catch (...) {
                caught = std::current_exception();
            }
        });
        thread.join();
        try {
            std::rethrow_exception(caught);
        } catch (int number) {
            sink = sink + number;
        }
    }
}

// Clean-ups on the way of a thread that exits, with an exception of their own.
static void exit_thread(int i) {
    if (i == 1)
        pthread_exit(nullptr);
}
static void by_pthread_exit() {
    for (int i = 0; i < 4; i++) {
        std::thread thread([i] {
            Busy one;
            descend(i, exit_thread);
        });
        thread.join();
    }
    Busy one;
    descend(3, exit_thread);
}

static void by_terminate() {
    std::set_terminate([] { std::exit(6); });
    descend(3, throw_number);
}

// cppcheck-suppress throwInNoexceptFunction
static void nothrow(int depth) noexcept { descend(depth, throw_number); }
static void by_noexcept() {
    std::set_terminate([] { std::exit(7); });
    nothrow(4);
}

static const struct {
    const char *name;
    void (*go)();
} ways[] = {
    {"throw", by_throw},
    {"rethrow", by_rethrow},
    {"constructor", by_constructor},
    {"destructor", by_destructor},
    {"callback", by_callback},
    {"thread", by_thread},
    {"pthread_exit", by_pthread_exit},
    {"terminate", by_terminate},
    {"noexcept", by_noexcept},
};

int main(int argc, char **argv) {
    for (const auto &way : ways)
        if (argc < 2)
            std::puts(way.name);
        else if (std::strcmp(argv[1], way.name) == 0)
            way.go();
    return 0;
}

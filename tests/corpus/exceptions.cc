// Exceptions, destructors, virtual calls, templates, lambdas, containers, a switch in each of them.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#define KEEP __attribute__((noinline, noipa, used))

KEEP long sink(long x) {
    static volatile long s;
    s = s + x;
    return s;
}

struct keeper {
    long value;
    explicit keeper(long v) : value(v) {}
    ~keeper() { sink(value); }
};

KEEP long thrower(long x) {
    switch (x) {
    case 0:
        throw std::runtime_error("zero");
    case 1:
        throw 1;
    case 2:
        throw std::string("two");
    case 3:
        return sink(3);
    case 4:
        throw x;
    case 5:
        return sink(9) + 1;
    default:
        return x;
    }
}
KEEP long catcher(long x) {
    keeper outer(x);
    try {
        keeper inner(x + 1);
        return thrower(x) + sink(4);
    } catch (const std::exception &e) {
        return (long)std::string(e.what()).size();
    } catch (int i) {
        return i;
    } catch (std::string &s) {
        return (long)s.size() + sink(1);
    } catch (...) {
        sink(7);
    }
    return -1;
}
KEEP long rethrower(long x) {
    for (long i = 0; i < x; i++) {
        try {
            keeper g(i);
            try {
                thrower(i);
            } catch (int) {
                sink(2);
                throw;
            }
        } catch (int j) {
            sink(j);
        } catch (...) {
            continue;
        }
    }
    return x;
}
KEEP long never_throws(long x) noexcept { return thrower(x + 5); }

// ---- virtual calls

struct figure {
    virtual ~figure() = default;
    virtual double area() const = 0;
    virtual double twice() const { return 2 * area(); }
};
struct tile final : figure {
    double a;
    explicit tile(double x) : a(x) {}
    double area() const override { return a * a; }
};
struct disc : figure {
    double r;
    explicit disc(double x) : r(x) {}
    double area() const override { return 3 * r * r; }
    double twice() const override { return r > 10 ? figure::twice() : 6 * r * r; }
};
struct labelled {
    virtual ~labelled() = default;
    virtual long label() const { return 1; }
};
struct both : disc, labelled {
    using disc::disc;
    long label() const override { return (long)r; }
    double area() const override { return r; }
};
KEEP double tail_virtual(const figure *s) { return s->area(); }
KEEP double sum_areas(const std::vector<std::unique_ptr<figure>> &shapes) {
    double s = 0;
    for (const auto &p : shapes)
        s += p->twice();
    return s;
}
KEEP long is_tile(const figure *s) { return dynamic_cast<const tile *>(s) != nullptr; }

// ---- templates and lambdas

template <typename T, int N> struct field {
    T v[N];
    T sum() const {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i];
        return s;
    }
    template <typename F> void apply(F f) {
        for (auto &x : v)
            x = f(x);
    }
};
template <typename T> KEEP T power(T x, unsigned n) {
    T r = 1;
    while (n) {
        if (n & 1)
            r *= x;
        x *= x;
        n >>= 1;
    }
    return r;
}
template <int K> KEEP long select(long x) {
    switch (x) {
    case 0:
        return sink(K);
    case 1:
        return sink(K + 1) - 1;
    case 2:
        return K * sink(3);
    case 3:
        return sink(K) / 2;
    case 4:
        return sink(x) ^ K;
    case 5:
        return sink(1);
    }
    return K;
}
enum class color : unsigned char { red, green, blue, cyan, magenta, yellow };
KEEP const char *name_of(color c) {
    switch (c) {
    case color::red:
        return "red";
    case color::green:
        return "green";
    case color::blue:
        return "blue";
    case color::cyan:
        return "cyan";
    case color::magenta:
        return "magenta";
    case color::yellow:
        return "yellow";
    }
    return "?";
}
KEEP long visit(const std::variant<int, double, std::string> &v) {
    return std::visit(
        [](const auto &x) {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(x)>>)
                return (long)x;
            else
                return (long)x.size();
        },
        v);
}
KEEP std::map<std::string, long> words(const std::string &text) {
    std::map<std::string, long> counts;
    std::string word;
    for (char c : text) {
        if (c == ' ') {
            counts[word]++;
            word.clear();
        } else {
            word += c;
        }
    }
    counts[word]++;
    return counts;
}
KEEP long sorted(std::vector<int> v, const std::function<bool(int, int)> &less) {
    std::sort(v.begin(), v.end(), less);
    return v.empty() ? 0 : v.front();
}
KEEP long checked(const std::vector<int> &v, size_t i) { return v.at(i); }

static keeper constructed_before_main(5);

int main(int argc, char **) {
    std::vector<std::unique_ptr<figure>> shapes;
    shapes.push_back(std::make_unique<tile>(2));
    shapes.push_back(std::make_unique<disc>(3));
    shapes.push_back(std::make_unique<both>(4));
    field<double, 9> f{};
    f.apply([argc](double x) { return x + argc; });
    long s = catcher(argc) + rethrower(4) + never_throws(9);
    for (long i = 0; i < 6; i++)
        s += catcher(i) + select<3>(i) + select<8>(i);
    s += visit(std::string("abc")) + (long)words("a b a c").size() +
         sorted({3, 1, 2}, std::less<>());
    s += power<long>(3, 5) + (long)power<double>(2, 7) + is_tile(shapes[0].get());
    try {
        s += checked({1, 2, 3}, (size_t)argc + 5);
    } catch (const std::out_of_range &) {
        s++;
    }
    printf("%ld %g %g %s\n", s, sum_areas(shapes) + tail_virtual(shapes[1].get()), f.sum(),
           name_of((color)(argc % 6)));
    return 0;
}

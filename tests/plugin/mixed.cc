// Exceptions, COMDAT templates, virtual calls, static initialisation, lambdas, OpenMP (with
// -fopenmp; without it the pragmas are comments).
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T> class matrix {
  public:
    matrix(int rows, int columns) : rows(rows), columns(columns), cells(rows * columns) {}
    T &at(int row, int column) {
        if (row >= rows || column >= columns)
            throw std::out_of_range("no such cell");
        return cells[row * columns + column];
    }
    T trace() {
        T sum = T();
        for (int i = 0; i < std::min(rows, columns); i++)
            sum += at(i, i);
        return sum;
    }

  private:
    int rows, columns;
    std::vector<T> cells;
};

struct shape {
    virtual double area() const = 0;
    virtual ~shape() = default;
};
struct square : shape {
    explicit square(double side) : side(side) {}
    double area() const override { return side * side; }
    double side;
};
struct disc : shape {
    explicit disc(double radius) : radius(radius) {}
    double area() const override { return 3.0 * radius * radius; }
    double radius;
};

static std::map<std::string, int> counts = {{"a", 1}, {"b", 2}};

static int deep(int n) {
    std::string name = "level " + std::to_string(n);
    if (n == 0)
        throw std::runtime_error(name);
    try {
        return deep(n - 1) + 1;
    } catch (const std::out_of_range &) {
        return -1;
    }
}

static double smooth(std::vector<double> &a, int sweeps) {
    int n = a.size();
    std::vector<double> b(a);
    for (int s = 0; s < sweeps; s++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++)
            b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
        a.swap(b);
    }
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

int main() {
    matrix<double> a(20, 30);
    matrix<int> b(5, 4);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            a.at(i, j) = i + 100 * j;
    int caught = 0;
    try {
        b.at(7, 1) = 3;
    } catch (const std::exception &error) {
        caught = std::string(error.what()).size();
    }
    try {
        caught += deep(5);
    } catch (const std::runtime_error &error) {
        caught += 1000;
    }
    std::vector<std::unique_ptr<shape>> shapes;
    for (int i = 0; i < 10; i++)
        if (i % 2)
            shapes.emplace_back(new square(i));
        else
            shapes.emplace_back(new disc(i));
    std::sort(shapes.begin(), shapes.end(),
              [](const auto &x, const auto &y) { return x->area() < y->area(); });
    std::vector<double> field(1000, 1.0);
    field[500] = 9;
    std::printf("%g %d %d %g %d %g\n", a.trace(), b.trace(), caught, shapes[9]->area(), counts["b"],
                smooth(field, 4));
}

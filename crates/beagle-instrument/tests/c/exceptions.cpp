// C++: exceptions, destructors, virtual calls, templates, lambdas, containers, static initialisers.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Noise { int n; explicit Noise(int n) : n(n) { std::printf("+%d ", n); } ~Noise() { std::printf("-%d ", n); } };
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double a; explicit Square(double a) : a(a) {} double area() const override { return a * a; } };
struct Circle : Shape { double r; explicit Circle(double r) : r(r) {} double area() const override { return 3 * r * r; } };
static Noise global(7);
static int risky(int n) { Noise noise(n); if (n == 3) throw std::runtime_error("three"); if (n == 4) throw n; return n * 2; }
static int guarded(int n) { try { int r = n > 2 ? risky(n) : risky(n + 1); return r; } catch (const std::exception &e) { std::printf("[%s] ", e.what()); return -1; } catch (int i) { std::printf("[%d] ", i); throw; } }
template <class T> static T most(const std::vector<T> &v) { T m = v.at(0); for (const T &x : v) if (m < x) m = x; return m; }
int main(int argc, char **) {
  for (int i = 0; i < 5; i++) { try { std::printf("%d\n", guarded(i + argc - 1)); } catch (...) { std::printf("again\n"); } }
  std::vector<std::unique_ptr<Shape>> shapes; shapes.push_back(std::make_unique<Square>(argc + 1)); shapes.push_back(std::make_unique<Circle>(2));
  double sum = 0; for (auto &s : shapes) sum += s->area();
  std::map<std::string, int> counts; for (const char *w : {"a", "b", "a", "c"}) counts[w] += argc;
  for (auto &[k, v] : counts) std::printf("%s=%d ", k.c_str(), v);
  std::function<int(int)> f = [&](int x) { return x + argc; };
  std::printf("%g %d %d %s\n", sum, f(4), most<int>({3, argc, 9}), most<std::string>({"x", "yy"}).c_str());
  try { std::vector<int> v(2); v.at(5) = 1; } catch (const std::out_of_range &) { std::printf("range\n"); }
  return argc + 10;
}

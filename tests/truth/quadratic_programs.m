% Solves each problem of the file (quadratic_programs.c wrote it) with Octave's qp and compares the
% objective: within 1e-8 of the size of its terms, and of 1e-12 of what the constraints take away, where
% these leave next to nothing.  A minimum that is lower than Octave's and
% satisfies the constraints is Octave's failure, which is counted.
%
%     octave-cli quadratic_programs.m FILE
arguments = argv();
file = fopen(arguments{1});
tolerance = 1e-8;
n_solved = n_infeasible = n_constrained = n_worse = n_broken = n_disagree = n_octave_stopped = 0;
furthest = 0;
function value = objective(x, h, g)
  value = 0.5 * x' * h * x + g' * x;
end
function distance = violation(x, a, b)
  distance = 0;
  if rows(a)
    scale = sum(abs(a), 2) * max(1, norm(x, inf)) + abs(b);
    scale(scale == 0) = 1;
    distance = max(max((b - a * x) ./ scale), 0);
  end
end
while ischar(line = fgetl(file))
  v = sscanf(line, "%f");
  n = v(1); m = v(2); solved = v(3); at = 4;
  h = reshape(v(at : at + n * n - 1), n, n)'; at += n * n;
  g = v(at : at + n - 1); at += n;
  a = reshape(v(at : at + m * n - 1), n, m)'; at += m * n;
  b = v(at : at + m - 1); at += m;
  if m
    [x, ~, info] = qp(zeros(n, 1), h, g, [], [], [], [], b, a, []);
  else
    [x, ~, info] = qp(zeros(n, 1), h, g);
  end
  if !solved
    n_infeasible++;
    if info.info != 6 && violation(x, a, b) < 1e-9
      n_disagree++;
    end
    continue;
  end
  n_solved++;
  ours = v(at : at + n - 1);
  size_of_terms = abs(0.5 * ours' * h * ours) + abs(g)' * abs(ours) + 1e-4 * abs(g' * (h \ g));
  n_constrained += m && any(a * ours - b < 1e-9 * (1 + abs(b)));
  if violation(ours, a, b) > 1e-9
    n_broken++;
    continue;
  end
  if info.info != 0 || violation(x, a, b) > 1e-9
    n_octave_stopped++;
    continue;
  end
  difference = (objective(ours, h, g) - objective(x, h, g)) / max(size_of_terms, realmin);
  n_octave_stopped += difference < -tolerance;
  n_worse += difference > tolerance;
  furthest = max(furthest, difference);
end
printf("%d solved, %d of them at constraints; %d without a solution; Octave found none of %d\n", ...
       n_solved, n_constrained, n_infeasible, n_octave_stopped);
printf("%d worse than Octave's (at most %.1g), %d break constraints, %d are solved by Octave only\n", ...
       n_worse, furthest, n_broken, n_disagree);
if n_worse + n_broken + n_disagree > 0 || n_octave_stopped > 0.05 * n_solved || n_constrained == 0
  exit(1);
end

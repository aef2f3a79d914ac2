% How long quadratic programs take in Octave: as qp_times.c, with qp.
%
%     octave-cli qp_times.m PROBLEMS N_PROBLEMS
arguments = argv();
file = fopen(arguments{1});
most = str2double(arguments{2});
problems = {};
while numel(problems) < most && ischar(line = fgetl(file))
  v = sscanf(line, "%f");
  n = v(1); m = v(2); solved = v(3); at = 4;
  if !solved
    continue;
  end
  p.h = reshape(v(at : at + n * n - 1), n, n)'; at += n * n;
  p.g = v(at : at + n - 1); at += n;
  p.a = reshape(v(at : at + m * n - 1), n, m)'; at += m * n;
  p.b = v(at : at + m - 1);
  problems{end + 1} = p;
end
function solve(p)
  if rows(p.a)
    qp(zeros(rows(p.h), 1), p.h, p.g, [], [], [], [], p.b, p.a, []);
  else
    qp(zeros(rows(p.h), 1), p.h, p.g);
  end
end
solve(problems{1}); % what is loaded at first does not count
begin = cputime();
for i = 1 : numel(problems)
  solve(problems{i});
end
printf("%.3e\n", (cputime() - begin) / numel(problems));

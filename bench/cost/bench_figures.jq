# From the times that bench/cost/bench.sh takes to ratios for each program and to figures.
#
# A time is {program, kind, way, round, seconds}; way: native, edges, exact, exact_4, default, no_behaviour, sampled, carry, checkpoint, cachegrind,
# profile_generate, valgrind_none, timed or, run just before that, timed_native, and of elapsed time second_core and,
# just before it, native_wall; seconds null if the run failed.  What else was measured has a way sampled or memory and
# fields of its own (reuse.bash).  A figure that lacks a run is null and does not hold.

def median: sort | length as $n
    | if $n == 0 then null
      elif $n % 2 == 1 then .[($n - 1) / 2] else (.[$n / 2 - 1] + .[$n / 2]) / 2 end;

def geometric_mean: (map(log) | add) / length | exp;

# Of one program's times: the median over rounds of WAY's seconds over those of BASE in the same round.
def ratio(way; base): . as $times
    | [.[] | select(.way == way)
        | . as $one | $times[] | select(.way == base and .round == $one.round)
        | [$one.seconds, .seconds]]
    | if length == 0 or any(.[]; .[0] == null or .[1] == null or .[1] == 0) then null
      else map(.[0] / .[1]) | median end;

# Memory that the analysis takes over what it may: 24 bytes a distinct block, 16 a bin, and 64 MiB.
def memory_ratio: if .plain_kib == null or .analysed_kib == null or .blocks == null then null
    else 1024 * (.analysed_kib - .plain_kib) / (24 * .blocks + 16 * .bins + 67108864) end;

# Times and what else was measured → an array of {program, kind, native_seconds, edges, exact, exact_4, sampled,
# cachegrind, timed, profile_generate, valgrind_none: over native, second_core: of elapsed time, the others: the first
# over the second, sampled_error, sampled_error_mean, memory}; null: not measured or failed.
def ratios(times; measured): times | group_by([.program, .kind]) | map(. as $times
    | [measured[] | select(.program == $times[0].program and .kind == $times[0].kind)] as $also | {
    program: .[0].program, kind: .[0].kind,
    native_seconds: (map(select(.way == "native").seconds)
        | if any(.[]; . == null) then null else median end),
    edges: ratio("edges"; "native"), exact: ratio("exact"; "native"),
    default: ratio("default"; "native"), exact_4: ratio("exact_4"; "native"), exact_4_over_cachegrind: ratio("exact_4"; "cachegrind"),
    second_core: ratio("second_core"; "native_wall"), sampled: ratio("sampled"; "native"),
    sampled_error: ([$also[] | select(.way == "sampled")][0].largest),
    sampled_error_mean: ([$also[] | select(.way == "sampled")][0].mean),
    carry_over_exact: ratio("carry"; "exact"), bytes_over_exact: ratio("bytes"; "exact"),
    write_backs_over_exact: ratio("write_backs"; "exact"),
    behaviour_over_default: ratio("default"; "no_behaviour"),
    checkpoint_over_exact: ratio("checkpoint"; "exact"),
    memory: ([$also[] | select(.way == "memory")][0] | if . == null then null else memory_ratio end),
    cachegrind: ratio("cachegrind"; "native"), timed: ratio("timed"; "timed_native"),
    profile_generate: ratio("profile_generate"; "native"), valgrind_none: ratio("valgrind_none"; "native"),
    exact_over_cachegrind: ratio("exact"; "cachegrind"),
    edges_over_profile_generate: ratio("edges"; "profile_generate"),
    edges_over_valgrind_none: ratio("edges"; "valgrind_none")});

# One figure over an array of values, of which none may be missing.
def at_most(name; unit; target; summary):
    (if length == 0 or any(.[]; . == null) then null else summary end) as $value
    | {name: name, value: $value, unit: unit, target: target, holds: ($value != null and $value <= target)};

def at_least(name; unit; target; summary):
    at_most(name; unit; target; summary) | .holds = (.value != null and .value >= target);

# A figure without a target, for comparison.
def told(name; unit; summary):
    at_most(name; unit; 0; summary) | .target = null | .holds = (.value != null);

# Fits of the most groups that were fitted at a time.
def largest_fits: (map(.groups) | max) as $most | map(select(.groups == $most));

# Of interpreters, by program.
def by_program(way; base): group_by(.program) | map(ratio(way; base));

# What touches.c says of a trace, over what a load that waits for the one before takes there, too.
def touch(number): map(select(.trace == number)) | map(.ns_far);
def over_load(number): (map(select(.load_ns)) | .[0].load_ns) as $load
    | touch(number) | map(if . == null or $load == null then null else . / $load end);

def figures(programs; lift; resolved; fit; qp; coverage; cc1; interpreters; touches; probes; schedules; schedule_cc1; wanted): [
    (programs | map(.edges)
        | at_most("edges_geomean"; "ratio"; 1.05; geometric_mean), at_most("edges_worst"; "ratio"; 1.15; max)),
    (programs | map(.profile_generate) | told("profile_generate_geomean"; "ratio"; geometric_mean)),
    (programs | map(.edges_over_profile_generate)
        | told("edges_vs_profile_generate"; "ratio"; geometric_mean)),
    (programs | map(.edges_over_valgrind_none) | told("edges_vs_valgrind_none"; "ratio"; geometric_mean)),
    (cc1 | (if length == 0 then [] else [ratio("edges"; "native")] end)
        | at_most("edges_cc1"; "ratio"; 1.3; .[0])),
    (cc1 | (if length == 0 then [] else [ratio("edges"; "relocated")] end)
        | at_most("edges_cc1_over_relocation"; "ratio"; 1.15; .[0])),
    (cc1 | map(select(.way == "rewrite"))
        | (map(.seconds) | at_most("rewrite_cc1_seconds"; "s"; 20; median)),
          (map(.mib) | at_most("rewrite_cc1_mib"; "MiB"; 2048; max))),
    (probes | map(select(.mode == "quick").seconds) | at_most("probe_quick_seconds"; "s"; 30; max)),
    (probes | map(select(.mode == "full").seconds) | at_most("probe_full_seconds"; "s"; 300; max)),
    (schedules | map(if .ours == null or .mca == null then null else .loops / .ours / (.mca_loops / .mca) end)
        | at_least("sched_vs_llvm_mca"; "ratio"; 10; median)),
    (schedules | map(if .ours == null then null else .loops / .ours end) | told("sched_loops_per_second"; "1/s"; median)),
    (schedule_cc1 | map(.seconds) | at_most("sched_cc1_seconds"; "s"; 60; .[0])),
    (programs | map(.exact)
        | at_most("reuse_exact_1"; "ratio"; 12; geometric_mean), at_most("reuse_exact_1_worst"; "ratio"; 30; max)),
    (programs | map(.exact_over_cachegrind)
        | at_most("reuse_exact_1_vs_cachegrind"; "ratio"; 0.17; geometric_mean)),
    (programs | map(.exact_4) | at_most("reuse_exact_4"; "ratio"; 25; geometric_mean)),
    (programs | map(.exact_4_over_cachegrind)
        | at_most("reuse_exact_4_vs_cachegrind"; "ratio"; 0.35; geometric_mean)),
    (programs | map(.default) | at_most("reuse_default"; "ratio"; 20; geometric_mean)),
    (interpreters | by_program("exact"; "native") | told("reuse_interpreters"; "ratio"; geometric_mean)),
    (interpreters | by_program("exact"; "cachegrind")
        | at_most("reuse_interpreters_vs_cachegrind"; "ratio"; 0.6; geometric_mean)),
    (programs | map(.second_core) | at_most("reuse_second_core"; "ratio"; 8; geometric_mean)),
    (programs | map(.sampled) | at_most("reuse_sampled_64"; "ratio"; 3; geometric_mean)),
    (programs | map(.sampled_error) | at_most("reuse_sampled_64_error"; "miss ratio"; 0.01; max)),
    (programs | map(.sampled_error_mean) | at_most("reuse_sampled_64_error_mean"; "miss ratio"; 0.005; add / length)),
    (programs | map(.carry_over_exact) | at_most("reuse_carry"; "ratio"; 1.6; geometric_mean)),
    (programs | map(.bytes_over_exact) | told("reuse_bytes"; "ratio"; geometric_mean)),
    (programs | map(.write_backs_over_exact) | told("reuse_write_backs"; "ratio"; geometric_mean)),
    (programs | map(.behaviour_over_default) | at_most("behaviour_over_default"; "ratio"; 1.3; geometric_mean)),
    (programs | map(.checkpoint_over_exact) | at_most("reuse_checkpoint"; "ratio"; 1.05; geometric_mean)),
    (programs | map(.memory) | at_most("reuse_memory"; "ratio"; 1; max)),
    (touches | touch(1) | at_most("touch_stencil_64"; "ns"; 10; .[0])),
    (touches | over_load(1) | told("touch_stencil_64_over_load"; "ratio"; .[0])),
    (touches | touch(6) | at_most("touch_random_200mb"; "ns"; 25; .[0])),
    (touches | over_load(6) | told("touch_random_200mb_over_load"; "ratio"; .[0])),
    (programs | map(.timed)
        | at_most("time_over_native"; "ratio"; 1.02; geometric_mean),
          at_most("time_over_native_worst"; "ratio"; 1.05; max)),
    (lift | map(if .lift == null or .objdump == null then null else .lift / .objdump end)
        | at_most("lift_vs_objdump"; "ratio"; 1; median)),
    (lift | map(if .lift == null then null else .instructions / .lift end)
        | at_least("lift_instructions_per_second"; "1/s"; 2000000; median)),
    (resolved | map(.resolved) as $resolved | map(.indirect) as $indirect
        | (if ($indirect | add // 0) == 0 then [] else [($resolved | add) / ($indirect | add)] end)
        | at_least("lift_indirect_resolved"; "share"; 0.99; .[0])),
    (fit | largest_fits | map(select(.threads == 2) | .groups / .seconds)
        | at_least("fit_groups_per_second"; "1/s"; 20000; median)),
    (fit | largest_fits | . as $fits | map(select(.threads == 2)
            | . as $two | ($fits[] | select(.threads == 1 and .round == $two.round)).seconds / 2 / $two.seconds)
        | at_least("fit_two_thread_efficiency"; "share"; 0.9; median)),
    (qp | map(if .ours == null or .octave == null then null else .octave / .ours end)
        | at_least("fit_vs_octave"; "ratio"; 100; median)),
    (fit | largest_fits | map(.bytes_per_group) | told("fit_bytes_per_group"; "bytes"; max)),
    (coverage | map(if .own == null or .own == 0 then null else .covered / .own end)
        | at_least("real_coverage"; "share"; 0.99; min))]
    | map(select(.name as $name | wanted | index($name)));

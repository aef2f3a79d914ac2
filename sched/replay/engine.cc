// pmodel-replay: replays time-independent traces on SimGrid and says when each action began and
// ended.
//
//     pmodel-replay [--cfg=ITEM:VALUE]... PLATFORM LIST RESULT SCALES
//
// LIST names the ranks' traces, one a line; the ranks fill the cores of the platform's hosts, in
// the order of the hosts' names. SCALES is PROCESSOR:BANDWIDTH:LATENCY:SECONDS, by which hosts and
// links are faster; with SECONDS not 0, computation is in units of 1 ns whatever the speed of the
// host. RESULT becomes a line of text, then doubles (sched/replay/engine.c).
//
// SimGrid's own replay (smpirun -replay) does the same and knows the time of the whole only. Each
// action is SimGrid's, with a look at the simulated clock before and after it. This is the only
// file that is linked with SimGrid.
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <xbt/replay.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace s4u = simgrid::s4u;

namespace {

struct span {
    double begin, end;
};

// The actions of a rank; the last one has no end while it is under way.
struct progress {
    std::vector<span> spans;
    std::string host;
    bool is_done = false;
};

std::vector<progress> ranks;
const char *result_path;
double processor_scale = 1, units_per_second = 0; // 0: flops as the trace has them

// What pmodel reads; ENDING is "done", "deadlock" or a sentence.
void write_result(const std::string &ending) {
    FILE *to = std::fopen(result_path, "wb");
    if (!to)
        _exit(1);
    std::fprintf(to, "pmodel-replay 1 %zu %s\n", ranks.size(), ending.c_str());
    for (const progress &rank : ranks) {
        double head[2] = {double(rank.spans.size()), double(rank.is_done)};
        std::fwrite(head, sizeof head, 1, to);
        std::fwrite(rank.spans.data(), sizeof(span), rank.spans.size(), to);
    }
    for (const progress &rank : ranks)
        std::fprintf(to, "%s\n", rank.host.c_str());
    std::fclose(to);
}

[[noreturn]] void refuse(const std::string &sentence) {
    write_result(sentence);
    _exit(2);
}

// Names with numbers in them: node-9 before node-10.
bool is_before(const s4u::Host *left, const s4u::Host *right) {
    const std::string &a = left->get_name(), &b = right->get_name();
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (std::isdigit((unsigned char)a[i]) && std::isdigit((unsigned char)b[j])) {
            char *end_a, *end_b;
            unsigned long x = std::strtoul(&a[i], &end_a, 10), y = std::strtoul(&b[j], &end_b, 10);
            if (x != y)
                return x < y;
            i = size_t(end_a - a.data());
            j = size_t(end_b - b.data());
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            i++;
            j++;
        }
    }
    return a.size() - i < b.size() - j;
}

// The host of each rank, one for each core.
std::vector<s4u::Host *> places(s4u::Engine &engine) {
    std::vector<s4u::Host *> hosts = engine.get_all_hosts(), cores;
    std::sort(hosts.begin(), hosts.end(), is_before);
    for (s4u::Host *host : hosts)
        for (int core = 0; core < host->get_core_count(); core++)
            cores.push_back(host);
    return cores;
}

// Puts a look at the clock around every action, once all ranks have registered SimGrid's.
void watch_actions() {
    static bool is_watched = false;
    if (is_watched)
        return;
    is_watched = true;
    for (const char *name :
         {"init",    "finalize", "comm_size", "comm_split", "comm_dup",      "send",    "isend",
          "recv",    "irecv",    "test",      "sendRecv",   "wait",          "waitall", "barrier",
          "bcast",   "reduce",   "allreduce", "alltoall",   "alltoallv",     "gather",  "scatter",
          "gatherv", "scatterv", "allgather", "allgatherv", "reducescatter", "scan",    "exscan",
          "compute", "sleep",    "location"}) {
        action_fun inner = xbt_replay_action_get(name);
        bool is_compute = std::string(name) == "compute";
        xbt_replay_action_register(name, [inner, is_compute](simgrid::xbt::ReplayAction &action) {
            size_t rank = std::strtoul(action[0].c_str(), nullptr, 10);
            ranks[rank].spans.push_back({s4u::Engine::get_clock(), -1});
            if (is_compute && units_per_second > 0) {
                double seconds = std::strtod(action[2].c_str(), nullptr) / units_per_second;
                char amount[40];
                std::snprintf(amount, sizeof amount, "%.17g",
                              seconds * s4u::this_actor::get_host()->get_speed() / processor_scale);
                action[2] = amount;
            } else if (is_compute && processor_scale != 1) {
                action[2] =
                    std::to_string(std::strtod(action[2].c_str(), nullptr) / processor_scale);
            }
            inner(action);
            ranks[rank].spans.back().end = s4u::Engine::get_clock();
        });
    }
}

void replay_rank(int rank, const std::string &trace) {
    smpi_replay_init("pmodel", rank, 0);
    watch_actions();
    smpi_replay_main(rank, trace.c_str());
    ranks[size_t(rank)].is_done = true;
}

} // namespace

int main(int argc, char **argv) {
    // So that the command line and the platform's <config> may set what SMPI has, as with smpirun.
    smpi_init_options();
    s4u::Engine engine(&argc, argv);
    if (argc != 5)
        return 2;
    double bandwidth_scale = 1, latency_scale = 1;
    result_path = argv[3];
    if (std::sscanf(argv[4], "%lf:%lf:%lf:%lf", &processor_scale, &bandwidth_scale, &latency_scale,
                    &units_per_second) != 4)
        return 2;

    std::vector<std::string> traces;
    std::ifstream list(argv[2]);
    for (std::string line; std::getline(list, line);)
        traces.push_back(line);
    try {
        engine.load_platform(argv[1]);
    } catch (const std::exception &fault) {
        refuse(fault.what());
    }
    SMPI_init();
    std::vector<s4u::Host *> cores = places(engine);
    if (cores.size() < traces.size())
        refuse("has " + std::to_string(cores.size()) + (cores.size() == 1 ? " core" : " cores") +
               " for " + std::to_string(traces.size()) + " ranks");
    for (s4u::Link *link : engine.get_all_links()) {
        if (bandwidth_scale != 1)
            link->set_bandwidth(link->get_bandwidth() * bandwidth_scale);
        if (latency_scale != 1)
            link->set_latency(link->get_latency() * latency_scale);
    }

    ranks.resize(traces.size());
    SMPI_app_instance_register("pmodel", nullptr, int(traces.size()));
    for (size_t r = 0; r < traces.size(); r++) {
        s4u::ActorPtr actor = s4u::Actor::init(std::to_string(r), cores[r]);
        ranks[r].host = cores[r]->get_name();
        actor->set_property("instance_id", "pmodel");
        actor->set_property("rank", std::to_string(r));
        actor->start([r, &traces] { replay_rank(int(r), traces[r]); });
    }
    s4u::Engine::on_deadlock_cb([] { refuse("deadlock"); });
    engine.run();
    write_result("done");
    _exit(0); // its destructors take long where ranks are many
}

// Loads a platform and prints, for every pair of hosts, or of every so many-th host, the latency and
// the least bandwidth of its route, and at the end the time of one simulated message of so many
// bytes from the first of these hosts to the last. Arguments: platform, bytes, step.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  engine.seal_platform();
  const double bytes = std::atof(argv[2]);
  size_t seen = 0;
  const size_t step = std::atoi(argv[3]);
  std::vector<sg4::Host*> hosts;
  for (auto* h : engine.get_all_hosts())
    if (seen++ % step == 0) hosts.push_back(h);
  for (auto* from : hosts)
    for (auto* to : hosts) {
      if (from == to) continue;
      std::vector<sg4::Link*> links;
      double latency = 0;
      from->route_to(to, links, &latency);
      double bandwidth = links.front()->get_bandwidth();
      for (auto* l : links) bandwidth = std::min(bandwidth, l->get_bandwidth());
      std::printf("%s\t%s\t%.17g\t%.17g\n", from->get_cname(), to->get_cname(), latency, bandwidth);
    }
  auto* box = sg4::Mailbox::by_name("box");
  static int message = 1;
  sg4::Actor::create("sender", hosts.front(), [&] { box->put(&message, bytes); });
  sg4::Actor::create("receiver", hosts.back(), [&] { box->get<int>(); });
  engine.run();
  std::printf("%s\t%s\t%.17g\tsent\n", hosts.front()->get_cname(), hosts.back()->get_cname(), sg4::Engine::get_clock());
}

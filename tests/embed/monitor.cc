// monitor.cc NAME [SECONDS]: runs a shipped monitor and prints what its maps hold.
#include <gpufs/error.h>
#include <gpufs/monitor.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) try {
    const auto program = gpufs::api::Program::shipped(argc > 1 ? argv[1] : "sched-wait");
    gpufs::api::Monitor monitor(program);
    monitor.start();
    monitor.run_for(std::chrono::seconds(argc > 2 ? std::atoi(argv[2]) : 1));
    monitor.stop();

    for (const auto& map : program.maps()) {
        std::cout << map.name << ": " << map.title << '\n';
        for (const auto& row : monitor.rows(map.name)) {
            for (const auto& [name, value] : row.key)
                std::cout << "  " << name << '=' << gpufs::api::to_text(value);
            std::cout << "  count=" << row.count;
            if (row.max) std::cout << "  max=" << *row.max << ' ' << map.unit;
            std::cout << '\n';
        }
    }
    for (const auto& loss : monitor.losses()) std::cout << loss.count << ' ' << loss.what << '\n';
} catch (const gpufs::Error& e) {
    std::cerr << e.what() << '\n' << e.hint() << '\n';
    return 1;
}

// recording.cc FILE [EXPRESSION]: counts the events of a recording by name.
#include <gpufs/error.h>
#include <gpufs/recording.h>

#include <cstdint>
#include <iostream>
#include <map>

int main(int argc, char** argv) try {
    if (argc < 2) return 2;
    gpufs::api::Recording recording(argv[1]);
    if (argc > 2) recording.only_if(argv[2]);

    std::map<std::string, std::uint64_t> counts;
    while (const gpufs::api::Event* event = recording.next()) ++counts[std::string(event->name())];

    for (const auto& [name, count] : counts) std::cout << name << ' ' << count << '\n';
    for (const auto& loss : recording.losses()) std::cerr << loss.count << ' ' << loss.what << '\n';
} catch (const gpufs::Error& e) {
    std::cerr << e.what() << '\n' << e.hint() << '\n';
    return 1;
}

#include "engine/bt/kernel_types.h"

#include <linux/btf.h>

#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/glob.h"

namespace gpufs::bt {
template <class Ask>
auto KernelTypes::first_of(std::string_view module, Ask ask)
    -> decltype(ask(std::declval<Source&>())) {
    if (!are_there()) return {};
    if (sources_.empty()) {
        sources_.emplace_back();
        sources_.back().btf = facts_.btf();
        sources_.back().module = "vmlinux";
    }
    for (Source& source : sources_)
        if (module.empty() || source.module == module)
            if (auto answer = ask(source)) return answer;
    for (const std::string& name : btf_modules()) {
        const bool is_asked = std::ranges::find(sources_, name, &Source::module) != sources_.end();
        if (is_asked || (!module.empty() && name != module)) continue;
        Source& source = sources_.emplace_back();
        try {
            source.own.emplace(Btf::module(name, *sources_.front().btf));
            source.btf = &*source.own;
            source.module = name;
            if (auto answer = ask(source)) return answer;
        } catch (const UnsupportedError&) {
            // It was unloaded meanwhile.
        }
        sources_.pop_back();
    }
    return {};
}

std::optional<KernelTypes::Place> KernelTypes::find(const std::string& name) {
    if (const auto known = places_.find(name); known != places_.end()) return known->second;
    const auto found = first_of({}, [&](Source& source) -> std::optional<Place> {
        const auto id = source.btf->find_type(name);
        return id ? std::optional(Place{&source, *id}) : std::nullopt;
    });
    return places_[name] = found;
}

TypePtr KernelTypes::find_type(const std::string& name) {
    const auto place = find(name);
    if (!place) return nullptr;
    TypePtr type = type_of(*place->source, place->id);
    if (!type->is(Type::Kind::structure) || type->structure) return type;
    Type whole = *type;
    whole.structure = structure_of(*place->source, place->source->btf->type(place->id));
    return std::make_shared<const Type>(std::move(whole));
}

std::shared_ptr<const Structure> KernelTypes::find_structure(const std::string& name) {
    const auto place = find(name);
    if (!place) return nullptr;
    const BtfType type = place->source->btf->type(place->id);
    return type.kind == BtfType::Kind::structure ? structure_of(*place->source, type) : nullptr;
}

std::shared_ptr<const Structure> KernelTypes::structure_of(Source& source, const BtfType& type) {
    auto& known = structures_[{&source, type.id}];
    if (known) return known;
    auto made = std::make_shared<Structure>();
    made->name = type.name;
    made->is_union = type.is_union;
    made->bytes = type.size;
    for (BtfMember& member : source.btf->members(type.id))
        made->fields.push_back({std::move(member.name), type_of(source, member.type), member.offset,
                                member.bit_shift, member.bit_size});
    return structures_[{&source, type.id}] = std::move(made);
}

TypePtr KernelTypes::type_of(Source& source, std::uint32_t id) {
    if (const auto known = source.types.find(id); known != source.types.end()) return known->second;
    TypePtr made = make_type(source, id);
    source.types.emplace(id, made);
    return made;
}

TypePtr KernelTypes::target_of(Source& source, std::uint32_t id) {
    const BtfType type = source.btf->type(id);
    if (type.kind != BtfType::Kind::structure) return type_of(source, id);
    if (!type.name.empty() && type.size != 0) places_.try_emplace(type.name, Place{&source, id});
    return type.name.empty() ? none_type() : structure_type(type.name);
}

TypePtr KernelTypes::make_type(Source& source, std::uint32_t id) {
    const BtfType type = source.btf->type(id);
    switch (type.kind) {
        case BtfType::Kind::none:
            return none_type();
        case BtfType::Kind::boolean:
            return boolean_type();
        case BtfType::Kind::character:
            return integer_type(1, type.is_signed);
        case BtfType::Kind::integer:
            return type.size <= 8 ? integer_type(type.size, type.is_signed) : bytes_type(type.size);
        case BtfType::Kind::pointer:
            return pointer_type(target_of(source, type.element), Space::kernel);
        case BtfType::Kind::array:
            if (source.btf->type(type.element).kind == BtfType::Kind::character)
                return char_array_type(type.count);
            return array_type(type_of(source, type.element), type.count);
        case BtfType::Kind::enumeration: {
            Type made = *integer_type(type.size, type.is_signed);
            made.name = type.name;
            made.words = source.btf->words(type.id);
            return std::make_shared<const Type>(std::move(made));
        }
        case BtfType::Kind::structure: {
            Type made = *structure_type(type.name);
            made.bytes = type.size;
            // With a name it is looked up where a script asks for its members.
            if (type.name.empty())
                made.structure = structure_of(source, type);
            else if (type.size != 0)
                places_.try_emplace(type.name, Place{&source, id});
            return std::make_shared<const Type>(std::move(made));
        }
        case BtfType::Kind::other:
            break;
    }
    return bytes_type(type.size);
}

std::optional<World::Enumerator> KernelTypes::enumerator(const std::string& name) {
    return first_of({}, [&](Source& source) -> std::optional<World::Enumerator> {
        const auto found = source.btf->enumerator(name);
        if (!found) return std::nullopt;
        // As wide as other constants.
        Type type = *type_of(source, found->type);
        type.bytes = kWord;
        return World::Enumerator{found->number, std::make_shared<const Type>(std::move(type))};
    });
}

std::vector<Type::Field> KernelTypes::fields_of(const Prototype& prototype) {
    std::vector<Type::Field> fields;
    std::size_t offset = 0;
    const auto add = [&](const BtfValue& value, std::string name) {
        fields.push_back(
            {std::move(name), type_of(*prototype.source, value.type_id), offset, 0, 0});
        offset += sizeof(std::uint64_t);
    };
    for (const BtfValue& value : prototype.function.parameters) add(value, value.name);
    if (prototype.function.returned) add(*prototype.function.returned, "retval");
    return fields;
}

std::optional<KernelTypes::Prototype> KernelTypes::find_prototype(const std::string& function) {
    const auto colon = function.find(':');
    const std::string module = colon == function.npos ? "" : function.substr(0, colon);
    const std::string name = function.substr(colon == function.npos ? 0 : colon + 1);
    return first_of(module, [&](Source& source) -> std::optional<Prototype> {
        if (auto found = source.btf->function(name)) return Prototype{&source, std::move(*found)};
        return std::nullopt;
    });
}

std::optional<KernelTypes::Prototype> KernelTypes::find_raw_prototype(const std::string& event) {
    return first_of({}, [&](Source& source) -> std::optional<Prototype> {
        // The typedef tells whether there is such a tracepoint, and the types of its arguments; the
        // functions have their names, too: the first since Linux 6.4, the other where the event has
        // no class.
        auto found = source.btf->function_typedef(cat("btf_trace_", event));
        if (!found) return std::nullopt;
        for (const char* prefix : {"__probestub_", "__bpf_trace_"}) {
            auto named = source.btf->function(cat(prefix, event));
            if (!named || named->parameters.size() != found->parameters.size()) continue;
            found = std::move(named);
            break;
        }
        found->returned.reset();
        auto& parameters = found->parameters;
        if (!parameters.empty()) parameters.erase(parameters.begin());  // the tracer's own
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (parameters[i].name.empty()) parameters[i].name = cat("arg", i);
        return Prototype{&source, std::move(*found)};
    });
}

std::optional<std::vector<Type::Field>> KernelTypes::parameters(const std::string& function) {
    const auto found = find_prototype(function);
    return found ? std::optional(fields_of(*found)) : std::nullopt;
}

std::optional<std::vector<Type::Field>> KernelTypes::raw_tracepoint(const std::string& event) {
    const auto found = find_raw_prototype(event);
    return found ? std::optional(fields_of(*found)) : std::nullopt;
}

std::optional<BtfFunction> KernelTypes::prototype(const std::string& function) {
    auto found = find_prototype(function);
    return found ? std::optional(std::move(found->function)) : std::nullopt;
}

std::optional<BtfFunction> KernelTypes::raw_prototype(const std::string& event) {
    auto found = find_raw_prototype(event);
    return found ? std::optional(std::move(found->function)) : std::nullopt;
}

std::optional<std::vector<std::string>> KernelTypes::members(const std::string& structure) {
    const auto place = find(structure);
    if (!place) return std::nullopt;
    return place->source->btf->members_as_text(place->id);
}

std::vector<KernelTypes::Definition> KernelTypes::definitions(std::string_view keyword,
                                                              const std::string& pattern,
                                                              bool has_text) {
    std::vector<std::uint32_t> kinds{BTF_KIND_ENUM, BTF_KIND_ENUM64};
    if (keyword != "enum") kinds = {keyword == "union" ? BTF_KIND_UNION : BTF_KIND_STRUCT};
    std::vector<Definition> found;
    first_of({}, [&](Source& source) -> std::optional<bool> {
        for (const std::uint32_t kind : kinds)
            for (const std::string& name : source.btf->type_names(kind)) {
                if (!glob_match(pattern, name)) continue;
                Definition one{source.module, cat(keyword, ' ', name), {}};
                const auto id = source.btf->find_type(name);
                if (has_text && id) one.text = source.btf->definition(*id);
                found.push_back(std::move(one));
            }
        return std::nullopt;  // all of them
    });
    return found;
}

std::map<std::string, std::vector<std::string>> KernelTypes::functions() {
    std::map<std::string, std::vector<std::string>> names;
    first_of({}, [&](Source& source) -> std::optional<bool> {
        names[source.module] = source.btf->functions();
        return std::nullopt;  // all of them
    });
    return names;
}

}  // namespace gpufs::bt

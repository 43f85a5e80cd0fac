#pragma once

#include "lang/asm/layout.h"
#include "lang/asm/work.h"
#include "lang/insn/tokens.h"

namespace gpufs {

// Parses one directive that declares something, ".map ..." or ".const ...", and adds what it
// declares to the work. Throws SourceError.
class DeclarationParser {
public:
    DeclarationParser(AsmWork& work, std::size_t source, Span range);

    // Whether there is a directive of that name.
    bool parse();
    static std::vector<std::string> names();

private:
    struct Directive {
        std::string_view name;
        void (DeclarationParser::*parse)();
    };
    static const Directive kDirectives[];

    // asm_declare.cc
    void monitor();
    void licence();
    void needs();
    void constant();
    void parameter();
    void structure();
    void stack();
    void global();
    void scratch();
    void lost();
    void enumeration();
    void caution();

    // asm_declare_map.cc
    void map();
    void map_clause(MapDeclaration& map, std::vector<Report>& reports);
    void max_entries(MapDeclaration& map);
    Aggregation aggregation();
    void aggregation_arguments(Aggregation& how);
    void value(MapDeclaration& map);
    void complete(const AsmToken& name, MapDeclaration& map);
    void define_map(const MapDeclaration& map);
    void report();
    bool is_report_clause() const;
    void report_clauses(Report& report, const MapDeclaration& map);

    // asm_declare_record.cc
    void record();
    const RecordLayout& known_record();
    Action action(const Layout& layout);
    std::vector<Action::Piece> pieces(const AsmToken& format, const Layout& layout);
    Action::Piece piece(Span at, const Layout& layout);

    // Pieces of them.
    AsmToken declared_name(std::string_view what);
    std::string text(std::string_view what);
    std::string unescaped(const AsmToken& text);
    std::int64_t number(std::string_view what, Int128 low, Int128 high);
    MapDeclaration& one_value_map(const AsmToken& name, bpf_map_type type, Layout value);
    const MapDeclaration& known_map();
    SourceRef here(const AsmToken& from) const { return {source_, tokens_.since(from)}; }
    Program& program() { return work_.program; }

    AsmWork& work_;
    std::size_t source_;
    AsmTokens tokens_;
    AsmLayoutParser types_;
    AsmNames names_;
    std::string_view declared_;  // the name that this directive gives a meaning
};

}  // namespace gpufs

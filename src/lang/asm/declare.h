#pragma once

#include "lang/asm/layout.h"
#include "lang/asm/work.h"
#include "lang/insn/tokens.h"

namespace gpufs {

// Parses one directive that declares something, ".map ..." or ".const ...", and adds the result to
// `work`. Throws SourceError.
class DeclarationParser {
public:
    DeclarationParser(AsmWork& work, std::size_t source, Span range);

    // Returns false if there is no directive with that name.
    bool parse();
    static std::vector<std::string> names();

private:
    struct Directive {
        std::string_view name;
        void (DeclarationParser::*parse)();
    };
    static const Directive kDirectives[];

    // declare.cc
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

    // declare_map.cc
    void map();
    void signatures(MapDeclaration& map);
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

    // declare_record.cc
    void record();
    const RecordLayout& known_record();
    Action action(const Layout& layout);
    std::vector<Action::Piece> pieces(const AsmToken& format, const Layout& layout);
    Action::Piece piece(Span at, const Layout& layout);

    // Shared by the functions above.
    AsmToken declared_name(std::string_view what);
    std::string text(std::string_view what);
    std::string unescaped(const AsmToken& text);
    std::int64_t number(std::string_view what, Int128 low, Int128 high);
    MapDeclaration& one_value_map(const AsmToken& name, bpf_map_type type, Layout value);
    std::string program_name();  // of a program that may stand behind it
    const MapDeclaration& known_map();
    SourceRef here(const AsmToken& from) const { return {source_, tokens_.since(from)}; }
    Program& program() { return work_.program; }

    AsmWork& work_;
    std::size_t source_;
    AsmTokens tokens_;
    AsmLayoutParser types_;
    AsmNames names_;
    std::string_view declared_;  // the name being declared
};

}  // namespace gpufs

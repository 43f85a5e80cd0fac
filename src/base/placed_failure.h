#pragma once

#include "base/source.h"

namespace gpufs {

// Another error with the place in a text that it is about, where that place is no mistake: what the
// machine refused or lacks. Its exit status is that of an E.
template <class E>
class PlacedFailure : public E, public Placed {
public:
    PlacedFailure(const SourceText& source, Span at, const Error& e)
        : E(point_at(source, at, e.what()), e.hint(), e.evidence()),
          Placed({place_message(source, at, e.what(), e.hint())}) {}
};

}  // namespace gpufs

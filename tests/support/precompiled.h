// What a test includes, compiled once for all of them (see the Makefile): Boost.Test alone is
// 74,000 lines.

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/precompiled.h"

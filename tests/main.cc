#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE gpufs
#include <boost/test/unit_test.hpp>

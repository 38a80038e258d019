// Package load measures a daemon in a process of its own, as its clients see it. It has benchmarks only:
//
//	make bench
//
// Each operation is measured beside a baseline, one call of each in turn, so that whatever else the machine does slows
// down both: a gRPC server that sends back the same bytes (in a process of its own, too), a bare bbolt transaction, or
// the same operation in the simplest case. A benchmark reports
//
//   - p50-ns, p99-ns: the time of a call that half of the calls, and one in a hundred, exceed;
//   - base-ns: the median of the baseline;
//   - x-base: the median as a multiple of the baseline's;
//   - x-target: the multiple that it should not exceed, where there is one;
//   - allocs/op, B/op: what the daemon allocates for one call.
//
// ns/op has the baseline in it. Where figures are about a size, they are named for it.
package load

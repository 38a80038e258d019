// Package histories tests what concurrent clients see of a daemon that is killed at random moments. Several clients
// append, compact, prune, revert, pin, make checkpoints, fork, and read the same sessions of a daemon in a process of its
// own, which gets SIGKILL again and again, and whose writes fail now and then. Every call is noted with its answer and
// with the times, by a counter, at which it began and ended. Afterwards the log that is left must explain them all:
//
//   - What was acknowledged is in the log, as it was sent, in order, once. What was refused is not.
//   - What was never answered is there as a whole or not at all, also once where it was repeated.
//   - A call that began after another one had ended comes after it. What a call read is what there was at that time.
//   - Every view is that of the naive model at its point.
//   - A watcher gets everything of its session once and in order, at whatever daemon.
//   - A request that is sent again gets its recorded answer, also from a daemon that was killed meanwhile.
//
// The same is tested of two daemons on one database, of which one is killed at a time; COMPACTORD_HISTORY_ROUNDS is how
// often.
//
// Nothing depends on how long a call takes. COMPACTORD_HISTORY_SEED repeats what the clients draw; what they meet depends
// on the machine all the same.
package histories

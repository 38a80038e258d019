// Package torture attacks a daemon in a process of its own, and measures what a bystander feels: a client that appends
// one line after the other to a session of its own. It asserts no times. It prints the bystander's p50 and p95 beside
// each attack, as ratios to those before, between and after its phases, and the most memory that the daemon had.
//
// A plain run of the tests is small and takes a moment, so that the attacks stay runnable. `make torture` runs them in
// full:
//
//	COMPACTORD_TORTURE=10s      how long the bystander is measured beside each attack
//	COMPACTORD_TORTURE_SEED=1   the seed of what attacks draw; else it is new in each run, and printed
//	COMPACTORD_BINARY=PATH      another build to compare with
//
// One attack keeps cores busy outside of the daemon: what a bystander feels beside it is the machine.
//
// TestUpkeepIsKilled runs all kinds of upkeep of a store (backup, defrag, retention, deletion, overwriting, rotation of keys)
// while 64 clients append, and kills the processes:
//
//	COMPACTORD_TORTURE_ROUNDS=100   how often the daemon is killed
//
// Beside that, tests compare the most memory of a daemon under an attack on its memory with that of another one.
//
// To add an attack, write a function that returns it, and name it in attacks.
package torture

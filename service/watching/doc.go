// Package watching sends the messages and records of a session to clients as they are written. A watch reads the log
// from the store and waits where it ends; each write wakes it, also one by another daemon that uses the same store. Only
// events of compactions, which the log does not have, wait in memory. A client that does not keep up with them gets an
// error that says from which sequence to go on.
package watching

// Package watching tells clients what happens to a session while it happens. A watch reads the log from the store and waits
// where there is nothing new; whoever writes wakes it. Only the events of compactions, which no log holds, wait for it in
// memory, and a client that does not keep up with them is told where to go on.
package watching

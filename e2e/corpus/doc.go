// Package corpus reads the recorded conversations for tests, and runs strategies on them. The recordings are not in the
// repository.
package corpus

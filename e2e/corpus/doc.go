// Package corpus reads the recorded conversations that tests run on, and draws views of them as the strategies leave
// them at many lengths. The recordings are no part of the repository.
package corpus

//go:build race

package faults_test

// The race detector slows counting tokens ten times.
const raced = true

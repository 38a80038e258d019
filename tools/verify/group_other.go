//go:build !unix

package main

import "os/exec"

// together does nothing here: a console interrupts all its processes by itself.
func together(*exec.Cmd) {}

func killRest(*exec.Cmd) {}

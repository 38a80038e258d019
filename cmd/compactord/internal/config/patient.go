package config

import (
	"reflect"

	"github.com/alecthomas/kong"
)

// fileFlag names the file of settings. It is no setting itself.
const fileFlag = "config"

// LeaveVariables keeps kong from reading the variables of settings: it would stop at the first wrong one. Settle reads
// them.
func LeaveVariables(k *kong.Context) error {
	for _, p := range k.Path {
		if p.Flag != nil && p.Flag.Name == "help" {
			return nil
		}
	}
	for _, flag := range k.Flags() {
		if flag.Name != fileFlag {
			flag.Tag.Envs = nil
		}
	}
	return nil
}

// BePatient makes the flags of commands that settle settings keep a value that cannot be read for Settle, which reports
// it with all other problems. kong would stop at the first one.
func BePatient(node *kong.Node) {
	for _, child := range node.Children {
		BePatient(child)
	}
	if node.Target.Kind() != reflect.Struct || !node.Target.CanAddr() {
		return
	}
	if _, settles := node.Target.Addr().Interface().(interface{ Check(from Sources) error }); !settles {
		return
	}
	keys := settingKeys()
	for _, flag := range node.Flags {
		for _, key := range keys {
			if keyOf(flag.Name) == key {
				flag.Mapper = &patientMapper{Mapper: flag.Mapper, isBool: flag.IsBool()}
			}
		}
	}
}

// patientMapper reads a flag, and keeps the problem with its value.
type patientMapper struct {
	kong.Mapper

	isBool  bool
	problem error
}

// Decode is part of kong.Mapper. A value that is missing is still an error: nothing tells what the next word is.
func (m *patientMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	left := ctx.Scan.Len()
	err := m.Mapper.Decode(ctx, target)
	if err != nil && ctx.Scan.Len() < left {
		m.problem = err
		return nil
	}
	return err
}

// IsBoolFromValue is part of kong.BoolMapperExt.
func (m *patientMapper) IsBoolFromValue(reflect.Value) bool { return m.isBool }

// misread returns the problem with the value of a flag on the command line.
func misread(flag *kong.Flag) error {
	if patient, is := flag.Mapper.(*patientMapper); is {
		return patient.problem
	}
	return nil
}

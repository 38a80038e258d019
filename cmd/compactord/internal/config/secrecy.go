package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The tags of settings that are hidden where settings are printed, and of those that only sound like secrets.
const (
	secretTag = "secret"
	publicTag = "public"
)

// marked is the target of a setting of a section that is secret, or public for a reason.
type marked struct {
	into   any
	secret bool
	public string
}

// public marks a setting that sounds like a secret and is none.
func public(why string, into any) marked { return marked{into: into, public: why} }

// declared is a setting as it is declared.
type declared struct {
	// section is the key of the file that it is in; empty for a flag.
	section, key, help string
	// text says that it can hold a text, and so a secret.
	text   bool
	secret bool
	public string
}

// secretsOf returns the secret keys of a section.
func secretsOf(section string) map[string]bool {
	secrets := make(map[string]bool)
	for _, d := range declaredIn(section) {
		if d.secret {
			secrets[d.key] = true
		}
	}
	return secrets
}

// declaredIn returns the settings of a section, in mappings at any depth.
func declaredIn(section string) []declared {
	var all []declared
	switch section {
	case jwtKey:
		all = declaredBy(reflect.TypeFor[jwtSettings]())
	case overflowKey:
		all = append(declaredBy(reflect.TypeFor[overflowSettings]()), declaredBy(reflect.TypeFor[overflowEntry]())...)
	case retentionKey:
		all = append(declaredBy(reflect.TypeFor[retentionSettings]()), declaredBy(reflect.TypeFor[retentionRules]())...)
	case quotasKey:
		all = listed((&limits{}).settings())
	case summarizersKey:
		p := &profile{}
		for _, list := range [][]setting{p.settings(&yaml.Node{}), p.priceSettings(), p.allowed.allowSettings(), p.allowed.dailySettings()} {
			all = append(all, listed(list)...)
		}
	case policiesKey:
		all = fieldsOf((&compactordv1.Policy{}).ProtoReflect().Descriptor(), make(map[protoreflect.FullName]bool))
	}
	for i := range all {
		all[i].section = section
	}
	return all
}

// declaredBy returns the settings that a struct declares by its tags.
func declaredBy(of reflect.Type) []declared {
	var all []declared
	for field := range of.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "" {
			key = strings.ToLower(strings.TrimPrefix(field.Tag.Get("env"), variablePrefix))
		}
		if key == "" {
			continue
		}
		_, secret := field.Tag.Lookup(secretTag)
		all = append(all, declared{
			key: key, help: field.Tag.Get("help"), text: holdsText(field.Type), secret: secret, public: field.Tag.Get(publicTag),
		})
	}
	return all
}

// listed returns the settings of a list.
func listed(list []setting) []declared {
	all := make([]declared, 0, len(list))
	for _, s := range list {
		mark, _ := s.into.(marked)
		all = append(all, declared{
			key: s.key, text: holdsText(reflect.TypeOf(s.target())), secret: mark.secret, public: mark.public,
		})
	}
	return all
}

// fieldsOf returns the fields of a message, and of those in it.
func fieldsOf(message protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) []declared {
	if seen[message.FullName()] {
		return nil
	}
	seen[message.FullName()] = true
	var all []declared
	for i := range message.Fields().Len() {
		f := message.Fields().Get(i)
		text := f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind
		all = append(all, declared{key: string(f.Name()), text: text})
		if f.Message() != nil {
			all = append(all, fieldsOf(f.Message(), seen)...)
		}
	}
	return all
}

// holdsText says whether a type can hold a text that a user chooses.
func holdsText(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		return holdsText(of.Elem())
	case reflect.String, reflect.Map, reflect.Struct, reflect.Interface:
		return true
	default:
		return false
	}
}

package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/strategies"
)

// Reloadable are the keys that a running daemon takes when it reads its configuration again, in the order of the file. All
// others need a restart.
var Reloadable = []string{
	"store_keys", "store_keys_env", "default_preset", "default_policy", "default_summarizer", "max_message_bytes", "max_inflight_bytes", "max_connections",
	"max_connections_of_client", "min_free_bytes", "drain_timeout", "log_level", policiesKey, tenantPoliciesKey, quotasKey,
	retentionKey,
}

// reloadableOfModels are the keys of a model for which the same holds. The key itself is read again in any case.
var reloadableOfModels = []string{"api_key_env", "api_key_file"}

// Change is a setting that is not what it was.
type Change struct {
	// Key is its path.
	Key string
	// Restart says that a running daemon cannot take it.
	Restart bool
}

// Changes returns what differs from settings that are in effect.
func (s *Settled) Changes(running *Settled) []Change {
	var changes []Change
	add := func(key string, restart bool) { changes = append(changes, Change{key, restart}) }
	was, is := reflect.ValueOf(running.Config), reflect.ValueOf(s.Config)
	for i, key := range settingKeys() {
		if !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			add(key, !slices.Contains(Reloadable, key))
		}
	}
	for _, key := range sectionKeys {
		before, now := running.File.sections[key], s.File.sections[key]
		switch {
		case key == summarizersKey:
			changes = append(changes, changedModels(before, now)...)
		case !reflect.DeepEqual(before, now):
			add(key, !slices.Contains(Reloadable, key))
		}
	}
	return changes
}

// changedModels returns the changes between two sections of models: a model that is new or gone, or else its keys.
func changedModels(before, now any) []Change {
	was, _ := mappingOf(summarizersKey, "", before)
	is, _ := mappingOf(summarizersKey, "", now)
	var changes []Change
	for _, name := range bothKeys(was, is) {
		path := summarizersKey + "." + name
		old, known := was[name]
		given, there := is[name]
		if !known || !there {
			changes = append(changes, Change{path, true})
			continue
		}
		oldKeys, _ := mappingOf(path, "", old)
		newKeys, _ := mappingOf(path, "", given)
		for _, key := range bothKeys(oldKeys, newKeys) {
			if !reflect.DeepEqual(oldKeys[key], newKeys[key]) {
				changes = append(changes, Change{path + "." + key, !slices.Contains(reloadableOfModels, key)})
			}
		}
	}
	return changes
}

func bothKeys(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]any)
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// CheckReload returns every problem with settings that name a model which the running daemon does not have.
func (s *Settled) CheckReload(running *Settled) error {
	planners, err := strategies.NewRegistry(strategies.Builtin()...)
	if err != nil {
		return err
	}
	names := summarizerNames(running.File.profiles)
	problems := beginning(s.path, []error{policies.NewResolver(planners, names).Check(&s.File.policies)})
	if _, err := names.Get(s.DefaultSummarizer); err != nil {
		problems = append(problems, fmt.Errorf("%s: the daemon has no summarizer %q before it is started again; there are %s",
			s.Of("default-summarizer"), s.DefaultSummarizer, strings.Join(names.Names(), ", ")))
	}
	return errors.Join(problems...)
}

// TakeKeys makes the API keys of other settings those of the models of running ones that have the same names. It returns the
// paths of the models whose key is another one now.
func (s *Settled) TakeKeys(from *Settled) []string {
	var changed []string
	for _, p := range s.File.profiles {
		i := slices.IndexFunc(from.File.profiles, func(other *profile) bool { return other.name == p.name })
		if i < 0 {
			continue
		}
		next := from.File.profiles[i]
		if p.currentKey() != next.currentKey() {
			p.key.Store(next.key.Load())
			changed = append(changed, p.path())
		}
	}
	return changed
}

// Take makes the reloadable settings of other ones those of running ones. Keys of models are taken by TakeKeys.
func (s *Settled) Take(from *Settled) {
	was, is := reflect.ValueOf(&s.Config).Elem(), reflect.ValueOf(from.Config)
	for i, key := range settingKeys() {
		if slices.Contains(Reloadable, key) {
			was.Field(i).Set(is.Field(i))
		}
	}
	sections := maps.Clone(s.File.sections)
	if sections == nil {
		sections = settings{}
	}
	for _, key := range []string{policiesKey, tenantPoliciesKey, quotasKey, retentionKey} {
		delete(sections, key)
		if section, there := from.File.sections[key]; there {
			sections[key] = section
		}
	}
	if models, there := sections[summarizersKey]; there {
		sections[summarizersKey] = withKeysOf(models, from.File.sections[summarizersKey])
	}
	taken := *s.File
	taken.sections, taken.policies, taken.quotas = sections, from.File.policies, from.File.quotas
	taken.Retention = from.File.Retention
	s.File, s.Sources = &taken, from.Sources
}

// withKeysOf returns a section of models with the reloadable keys of another one.
func withKeysOf(models, others any) settings {
	was, _ := mappingOf(summarizersKey, "", models)
	is, _ := mappingOf(summarizersKey, "", others)
	taken := make(settings, len(was))
	for name, model := range was {
		keys, _ := mappingOf(name, "", model)
		next, _ := mappingOf(name, "", is[name])
		keys = maps.Clone(keys)
		for _, key := range reloadableOfModels {
			if _, there := is[name]; there {
				delete(keys, key)
			}
			if value, there := next[key]; there {
				keys[key] = value
			}
		}
		taken[name] = settings(keys)
	}
	return taken
}

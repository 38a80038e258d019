package strategies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/misspelt"
)

// customKind is the field of compactord.v1.Strategy that names a registered custom strategy.
const customKind = "custom"

// Registry finds strategies by name. It is immutable.
type Registry struct {
	byName map[string]Strategy
}

// NewRegistry returns a registry of these strategies. Two with the same name are an error, so that neither hides the
// other.
func NewRegistry(list ...Strategy) (*Registry, error) {
	r := &Registry{byName: make(map[string]Strategy, len(list))}
	for _, s := range list {
		name := s.Name()
		if name == "" || name == customKind {
			return nil, fmt.Errorf("a strategy cannot be named %q", name)
		}
		if _, taken := r.byName[name]; taken {
			return nil, fmt.Errorf("two strategies are named %q", name)
		}
		r.byName[name] = s
	}
	return r, nil
}

// Names returns the registered names, sorted.
func (r *Registry) Names() []string {
	return slices.Sorted(maps.Keys(r.byName))
}

// Get returns the strategy with this name. If there is none, it returns ErrUnknown with the known names.
func (r *Registry) Get(name string) (Strategy, error) {
	if s, ok := r.byName[name]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("%w: strategy %q%s; there are %s", ErrUnknown, name, misspelt.Of(name, r.Names()), strings.Join(r.Names(), ", "))
}

// Supports returns an error if Plan could not run the selected strategy or one that it nests.
func (r *Registry) Supports(parameters *compactordv1.Strategy) error {
	for n := range Nested(parameters) {
		_, err := r.selected(n.Strategy)
		switch {
		case err == nil:
		case n.Path == "":
			return err
		default:
			return &NestedError{Path: n.Path, Err: err}
		}
	}
	return nil
}

// NestedError is an error about a nested strategy.
type NestedError struct {
	// Path is the path from the outermost strategy, such as `ladder.rungs[0].strategy`.
	Path string
	Err  error
}

func (e *NestedError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error about the nested strategy.
func (e *NestedError) Unwrap() error { return e.Err }

// Plan runs the strategy that parameters select. A panic in it becomes a PanicError.
func (r *Registry) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	s, err := r.selected(parameters)
	if err != nil {
		return nil, err
	}
	if err := ended(ctx); err != nil {
		return nil, err
	}
	planned := *in
	planned.registry = r
	if KindOf(parameters) == customKind {
		// Whoever wrote it may read what tools returned.
		if planned.State, err = in.State.WithContents(ctx); err != nil {
			return nil, err
		}
	}
	return guarded(ctx, s, &planned, parameters)
}

func (r *Registry) selected(parameters *compactordv1.Strategy) (Strategy, error) {
	kind := KindOf(parameters)
	switch kind {
	case "":
		return nil, fmt.Errorf("%w: no strategy is named; there are %s", ErrUnknown, strings.Join(r.Names(), ", "))
	case customKind:
		return r.custom(parameters.GetCustom().GetName())
	}
	if s, ok := r.byName[kind]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("strategy.%s: %w", kind, ErrNotImplemented)
}

// custom returns the strategy that a CustomStrategy names. It refuses strategies of the contract, whose typed
// parameters would be missing.
func (r *Registry) custom(name string) (Strategy, error) {
	if isKind(name) {
		return nil, fmt.Errorf("%w: custom strategy %q; select it by the field of that name", ErrUnknown, name)
	}
	return r.Get(name)
}

// KindOf returns the name of a strategy: of the field that is set in its message, or "" if none is.
func KindOf(parameters *compactordv1.Strategy) string {
	m := parameters.ProtoReflect()
	field := m.WhichOneof(kindField())
	if field == nil {
		return ""
	}
	return string(field.Name())
}

// isKind says whether a name is that of a strategy of the contract.
func isKind(name string) bool {
	return kindField().Fields().ByName(protoreflect.Name(name)) != nil
}

func kindField() protoreflect.OneofDescriptor {
	return (*compactordv1.Strategy)(nil).ProtoReflect().Descriptor().Oneofs().ByName("kind")
}

// PanicError says that a strategy panicked. Its text is safe to show. Value and Stack are only for the log, since they
// may contain parts of the conversation.
type PanicError struct {
	Strategy string
	Value    any
	Stack    []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("strategy %q panicked", e.Strategy) }

// guarded keeps a strategy's panic from ending the daemon.
func guarded(
	ctx context.Context, s Strategy, in *Input, parameters *compactordv1.Strategy,
) (plan *compactordv1.CompactionPlan, err error) {
	defer func() {
		if value := recover(); value != nil {
			plan, err = nil, &PanicError{Strategy: s.Name(), Value: value, Stack: debug.Stack()}
		}
	}()
	plan, err = s.Plan(ctx, in, parameters)
	if err == nil && plan == nil {
		err = errNoPlan
	}
	if err != nil {
		return nil, fmt.Errorf("strategy %q: %w", s.Name(), err)
	}
	return plan, nil
}

var errNoPlan = errors.New("returned neither a plan nor an error")

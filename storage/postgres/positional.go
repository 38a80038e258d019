package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// positional is a statement whose parameters have numbers in place of names.
type positional struct {
	text string
	// names are those of the parameters, in the order of their numbers.
	names []string
}

// numbered are the statements of commits that were used already, by their text: pgx would read each of them again for each
// commit, which takes as long as encoding a message.
var numbered sync.Map

// numberedOf returns a statement with numbers, and its arguments in their order. All calls with one statement give the same names.
func numberedOf(
	ctx context.Context, statement string, args pgx.NamedArgs,
) (text string, values []any, err error) {
	known, found := numbered.Load(statement)
	if !found {
		names := pgx.NamedArgs{}
		for name := range args {
			names[name] = name
		}
		made := &positional{}
		var order []any
		if made.text, order, err = names.RewriteQuery(ctx, nil, statement, nil); err != nil {
			return "", nil, err
		}
		for _, name := range order {
			text, _ := name.(string)
			made.names = append(made.names, text)
		}
		known, _ = numbered.LoadOrStore(statement, made)
	}
	p, _ := known.(*positional)
	values = make([]any, len(p.names))
	for i, name := range p.names {
		values[i] = args[name]
	}
	return p.text, values, nil
}

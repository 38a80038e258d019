// Package tenant says for which tenant a call works. The sessions of a tenant, and all that belongs to them, exist for its
// callers only.
package tenant

import (
	"context"
	"fmt"
	"strings"
)

// Default is the tenant of callers whose token names none. Stores from before there were tenants have only its sessions.
const Default = ""

// maxName is the longest name of a tenant, in bytes.
const maxName = 63

type nameKey struct{}

// With returns the context of work for a tenant.
func With(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// Of returns the tenant for which the work of a context is done. It is Default where With was not called.
func Of(ctx context.Context) string {
	name, _ := ctx.Value(nameKey{}).(string)
	return name
}

// Check returns an error for a text that cannot be the name of a tenant. Default has no name.
func Check(name string) error {
	first := func(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' }
	odd := func(r rune) bool { return !first(r) && !strings.ContainsRune("._-", r) }
	if name == "" || len(name) > maxName || !first(rune(name[0])) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("the tenant must have 1 to %d lower-case letters, digits, '.', '_' and '-', and begin with a letter or digit", maxName)
	}
	return nil
}

package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/access/jwt"
)

// jwtKey is the key of the file that says which JWTs are accepted.
const jwtKey = "jwt"

// Bounds and defaults of its settings.
const (
	defaultLeeway  = 30 * time.Second
	maxLeeway      = 5 * time.Minute
	defaultRefresh = 15 * time.Minute
	minRefresh     = time.Minute
	maxRefresh     = 24 * time.Hour
)

// defaultRoles are the values of `scope` that give a role, where the file names none.
var defaultRoles = map[string]access.Role{
	"compactord:read": access.Read, "compactord:write": access.Write, "compactord:admin": access.Admin,
}

type jwtSettings struct {
	Keys         string            `public:"an address or a path" yaml:"keys"`
	Issuer       string            `yaml:"issuer"`
	Audience     yaml.Node         `yaml:"audience"`
	Algorithms   []string          `yaml:"algorithms"`
	Leeway       string            `yaml:"leeway"`
	Refresh      string            `yaml:"refresh"`
	SubjectClaim string            `yaml:"subject_claim"`
	TenantClaim  string            `yaml:"tenant_claim"`
	RoleClaim    string            `yaml:"role_claim"`
	Roles        map[string]string `yaml:"roles"`
}

// readJWT reads the setting from its YAML value, and returns every problem; nil means that no JWT is accepted.
func readJWT(setting any) (*access.JWT, error) {
	if setting == nil {
		return nil, nil
	}
	s := jwtSettings{SubjectClaim: "sub", TenantClaim: "tenant", RoleClaim: "scope", Leeway: defaultLeeway.String(), Refresh: defaultRefresh.String()}
	if err := decodeStrictly(jwtKey, "keys, issuer, audience and more", setting, &s); err != nil {
		return nil, err
	}
	var problems []error
	note := func(key string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s.%s: %w", jwtKey, key, err))
		}
	}
	read := &access.JWT{Settings: jwt.Settings{
		Keys: s.Keys, Issuer: s.Issuer, Algorithms: s.Algorithms,
		SubjectClaim: s.SubjectClaim, TenantClaim: s.TenantClaim, RoleClaim: s.RoleClaim,
	}}
	note("keys", jwt.CheckPlace(s.Keys))
	if s.Issuer == "" {
		note("issuer", errors.New("name the issuer, the claim `iss` of its tokens"))
	}
	var err error
	read.Audiences, err = readAudiences(&s.Audience)
	note("audience", err)
	if len(read.Algorithms) == 0 {
		read.Algorithms = jwt.Algorithms()
	}
	for _, name := range read.Algorithms {
		if !slices.Contains(jwt.Algorithms(), name) {
			note("algorithms", fmt.Errorf("%q is none of %s", name, strings.Join(jwt.Algorithms(), ", ")))
		}
	}
	read.Leeway, err = readWithin(s.Leeway, 0, maxLeeway)
	note("leeway", err)
	read.Refresh, err = readWithin(s.Refresh, minRefresh, maxRefresh)
	note("refresh", err)
	for key, name := range map[string]string{"subject_claim": s.SubjectClaim, "tenant_claim": s.TenantClaim, "role_claim": s.RoleClaim} {
		if name == "" {
			note(key, errors.New("name a claim"))
		}
	}
	read.Roles, err = readRoles(s.Roles)
	for _, one := range each(err) {
		note("roles", one)
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return read, errors.Join(problems...)
}

// readAudiences reads a text or a list of texts.
func readAudiences(node *yaml.Node) (audiences []string, err error) {
	if node.Kind == yaml.ScalarNode {
		audiences = []string{node.Value}
	} else if err := node.Decode(&audiences); err != nil {
		return nil, errors.New("must be a text, or a list of texts")
	}
	if len(audiences) == 0 || slices.Contains(audiences, "") {
		return nil, errors.New("name the audience, a value of the claim `aud` that only tokens for this daemon have")
	}
	return audiences, nil
}

func readWithin(text string, least, most time.Duration) (time.Duration, error) {
	span, err := time.ParseDuration(text)
	if err != nil || span < least || span > most {
		return 0, fmt.Errorf("must be a time from %s to %s", least, most)
	}
	return span, nil
}

// readRoles reads the roles that values of the claim give.
func readRoles(given map[string]string) (map[string]access.Role, error) {
	if len(given) == 0 {
		return defaultRoles, nil
	}
	roles := make(map[string]access.Role, len(given))
	var problems []error
	for _, value := range slices.Sorted(maps.Keys(given)) {
		role, err := access.ParseRole(given[value])
		switch {
		case value == "" || strings.ContainsAny(value, " \t\n"):
			problems = append(problems, errors.New("a value of the claim must be one word"))
		case err != nil:
			problems = append(problems, fmt.Errorf("of %q: %w", value, err))
		}
		roles[value] = role
	}
	return roles, errors.Join(problems...)
}

// JWT says which JWTs are accepted; nil for none.
func (f *File) JWT() *access.JWT { return f.jwt }

// checkJWT returns every problem with JWTs that depends on other settings, or on the file of their keys.
func (s *Settled) checkJWT() []error {
	if s.File.jwt == nil {
		return nil
	}
	var problems []error
	if s.NoAuth {
		problems = append(problems, fmt.Errorf("%s: no token is asked for with --no-auth", jwtKey))
	}
	if err := jwt.CheckFile(s.File.jwt.Keys); err != nil && s.File.jwt.Keys != "" {
		problems = append(problems, fmt.Errorf("%s.keys: %s: %w", jwtKey, s.File.jwt.Keys, err))
	}
	return beginning(s.path, problems)
}

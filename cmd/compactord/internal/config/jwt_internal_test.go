package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/access/jwt"
)

func jwtOf(t *testing.T, text string) (*access.JWT, error) {
	t.Helper()
	var section any
	require.NoError(t, yaml.Unmarshal([]byte(text), &section))
	return readJWT(section)
}

func TestSettingsOfJWTs(t *testing.T) {
	t.Parallel()
	got, err := jwtOf(t, "{keys: 'https://a.example/keys', issuer: i, audience: a}")
	require.NoError(t, err)
	require.Equal(t, &access.JWT{Roles: defaultRoles, Settings: jwt.Settings{
		Keys: "https://a.example/keys", Issuer: "i", Audiences: []string{"a"}, Algorithms: jwt.Algorithms(), Leeway: 30 * time.Second,
		Refresh: 15 * time.Minute, SubjectClaim: "sub", TenantClaim: "tenant", RoleClaim: "scope",
	}}, got)
	got, err = jwtOf(t, "{keys: k.json, issuer: i, audience: [a, b], algorithms: [EdDSA], leeway: 0s, refresh: 1m, role_claim: r, roles: {boss: admin}}")
	require.NoError(t, err)
	require.Equal(t, []any{[]string{"a", "b"}, []string{"EdDSA"}, time.Duration(0), map[string]access.Role{"boss": access.Admin}},
		[]any{got.Audiences, got.Algorithms, got.Leeway, got.Roles})
	got, err = readJWT(nil)
	require.NoError(t, err)
	require.Nil(t, got)
	for text, problems := range map[string][]string{
		"{}": {"jwt.audience: ", "jwt.issuer: ", "jwt.keys: "},
		"{keys: 'http://a.example', issuer: i, audience: {a: b}, algorithms: [RS256, HS256, none], leeway: 1h, refresh: 1s, sub: x}": {`jwt must hold `},
		"{keys: 'http://a.example', issuer: i, audience: {a: b}, algorithms: [RS256, HS256, none], leeway: 1h, refresh: 1s, subject_claim: '', roles: {a: boss}}": {
			"jwt.algorithms: \"HS256\"", "jwt.algorithms: \"none\"", "jwt.audience: ", "jwt.keys: must be an https URL", "jwt.leeway: ", "jwt.refresh: ",
			"jwt.roles: ", "jwt.subject_claim: ",
		},
		"{keys: k, issuer: i, audience: ['']}": {"jwt.audience: "},
		"[a]":                                  {"jwt must hold "},
	} {
		_, err := jwtOf(t, text)
		all := each(err)
		require.Len(t, all, len(problems), "%s: %v", text, err)
		for i, problem := range problems {
			require.ErrorContains(t, all[i], problem, text)
		}
	}
}

// The file of keys is read as the daemon would, and JWTs need tokens to be asked for.
func TestJWTsAreCheckedWithOtherSettings(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(keys, []byte("{"), 0o600))
	s := &Settled{Config: Config{NoAuth: true}, File: &File{jwt: &access.JWT{Settings: jwt.Settings{Keys: keys}}}}
	problems := s.checkJWT()
	require.Len(t, problems, 2)
	require.ErrorContains(t, problems[0], "jwt: no token is asked for")
	require.ErrorContains(t, problems[1], "jwt.keys: "+keys+": it is no JSON Web Key Set")
	s.NoAuth, s.File.jwt.Keys = false, "https://nowhere.invalid"
	require.Empty(t, s.checkJWT())
}

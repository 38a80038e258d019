package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session"
)

// Whatever a client sends as a token is refused, or stands for what it says: it can be written and read again.
func FuzzParseViewToken(f *testing.F) {
	f.Add("")
	f.Add(session.ViewToken{}.String())
	f.Add(session.ViewToken{UID: "0192-uid", Point: 7, NextIndex: 5, Messages: 4, Options: [8]byte{1, 2}}.String())
	f.Add("AQAAAAcAAAAFAAAABAECAAAAAAAAMDE5Mi11aWQ=")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := session.ParseViewToken(s)
		if err != nil {
			require.ErrorIs(t, err, session.ErrToken)
			require.Zero(t, token)
			return
		}
		again, err := session.ParseViewToken(token.String())
		require.NoError(t, err)
		require.Equal(t, token, again)
	})
}

func TestTokenOfAnotherVersionIsRefused(t *testing.T) {
	_, err := session.ParseViewToken("Ag" + session.ViewToken{UID: "u"}.String()[2:])
	require.ErrorIs(t, err, session.ErrToken)
	_, err = session.ParseViewToken(session.ViewToken{}.String()[:20])
	require.ErrorIs(t, err, session.ErrToken)
}

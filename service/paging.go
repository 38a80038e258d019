package service

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/compactord/compactord/service/apierror"
)

// pageToken returns a token for the index or sequence where the next page begins. kind keeps the tokens of different
// listings apart.
func pageToken(kind byte, next uint32) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32([]byte{kind}, next))
}

// The kinds of page tokens.
const (
	pageOfMessages      = 'm'
	pageOfRecords       = 'r'
	pageOfNewestRecords = 'n'
	pageOfBlocks        = 'b'
)

// pageStart returns where a page begins: the position in its token, or without one first.
func pageStart(kind byte, token string, first uint32) (uint32, error) {
	if token == "" {
		return first, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != 5 || b[0] != kind {
		return 0, apierror.InvalidToken("page_token")
	}
	return binary.BigEndian.Uint32(b[1:]), nil
}

const defaultPageSize = 100

func pageSize(asked uint32) uint32 {
	if asked == 0 {
		return defaultPageSize
	}
	return asked
}

func answerBytes(asked uint32) int {
	if asked == 0 {
		return DefaultMaxAnswerBytes
	}
	return int(asked)
}

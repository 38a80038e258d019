package boltstore

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/storage"
)

// Every key can be read back from its bytes, and no bytes are the key of two things.
func FuzzKeys(f *testing.F) {
	f.Add(uint64(1), uint32(2), uint32(3), "tenant", "id", "label", "value", int64(4), int32(5), []byte("\x00\x00"))
	f.Add(^uint64(0), ^uint32(0), uint32(0), "", "", "", "", int64(-1), int32(-1), []byte(nil))
	f.Fuzz(func(t *testing.T, ordinal uint64, a, b uint32, tenant, id, label, value string, seconds int64, nanos int32, raw []byte) {
		gotOrdinal, gotA, err := splitNumberKey(numberKey(ordinal, a))
		require.NoError(t, err)
		require.Equal(t, []any{ordinal, a}, []any{gotOrdinal, gotA})

		gotOrdinal, gotA, gotB, err := splitPairKey(pairKey(ordinal, a, b))
		require.NoError(t, err)
		require.Equal(t, []any{ordinal, a, b}, []any{gotOrdinal, gotA, gotB})

		blob := blobID{kind: blobKind(b), id: ordinal ^ uint64(b)}
		gotOrdinal, gotBlob, gotA, err := splitBlobKey(blobKey(ordinal, blob, a))
		require.NoError(t, err)
		require.Equal(t, []any{ordinal, blob, a}, []any{gotOrdinal, gotBlob, gotA})

		if id != "" {
			gotOrdinal, gotID, err := splitRequestKey(requestKey(ordinal, id))
			require.NoError(t, err)
			require.Equal(t, []any{ordinal, id}, []any{gotOrdinal, gotID})
		}
		gotOrdinal, err = keyOrdinal(requestKey(ordinal, id))
		require.NoError(t, err)
		require.Equal(t, ordinal, gotOrdinal)

		if len(tenant) > maxName || len(id) > maxName || len(label) > maxName || len(value) > maxName {
			require.Nil(t, sessionKey(tenant, string(make([]byte, maxName+1))))
			return
		}
		gotTenant, gotID, err := splitSessionKey(sessionKey(tenant, id))
		require.NoError(t, err)
		require.Equal(t, []any{tenant, id}, []any{gotTenant, gotID})

		at := newPlace(&timestamppb.Timestamp{Seconds: seconds, Nanos: nanos}, ordinal)
		require.Equal(t, ordinal, at.ordinal())
		for _, l := range []listing{
			{order: storage.ByChange, tenant: tenant},
			{order: storage.ByCreation, tenant: tenant, labelled: true, label: label, value: value},
		} {
			gotListing, gotPlace, err := splitListingKey(l.key(at), l.labelled)
			require.NoError(t, err)
			require.Equal(t, l, gotListing)
			require.Equal(t, at, gotPlace)
		}

		// Bytes that are a key give the same bytes again.
		if ordinal, a, err := splitNumberKey(raw); err == nil {
			require.Equal(t, raw, numberKey(ordinal, a))
		}
		if ordinal, a, b, err := splitPairKey(raw); err == nil {
			require.Equal(t, raw, pairKey(ordinal, a, b))
		}
		if ordinal, blob, chunk, err := splitBlobKey(raw); err == nil {
			require.Equal(t, raw, blobKey(ordinal, blob, chunk))
		}
		if ordinal, id, err := splitRequestKey(raw); err == nil {
			require.Equal(t, raw, requestKey(ordinal, id))
		}
		if tenant, id, err := splitSessionKey(raw); err == nil && len(tenant) <= maxName && len(id) <= maxName {
			require.Equal(t, raw, sessionKey(tenant, id))
		}
		for _, labelled := range []bool{false, true} {
			if l, at, err := splitListingKey(raw, labelled); err == nil {
				require.Equal(t, raw, l.key(at))
			}
		}
	})
}

// A later time sorts before an earlier one, and of the same time the later ordinal.
func FuzzPlaceOrder(f *testing.F) {
	f.Add(int64(0), uint32(0), uint64(1), int64(-1), uint32(999999999), uint64(2))
	f.Add(int64(5), uint32(1), uint64(7), int64(5), uint32(1), uint64(8))
	f.Fuzz(func(t *testing.T, s1 int64, n1 uint32, o1 uint64, s2 int64, n2 uint32, o2 uint64) {
		one := newPlace(&timestamppb.Timestamp{Seconds: s1, Nanos: int32(n1 % 1e9)}, o1)
		two := newPlace(&timestamppb.Timestamp{Seconds: s2, Nanos: int32(n2 % 1e9)}, o2)
		want := cmp.Or(cmp.Compare(s2, s1), cmp.Compare(n2%1e9, n1%1e9), cmp.Compare(o2, o1))
		require.Equal(t, want, bytes.Compare(one[:], two[:]))
	})
}

package storagetest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// What the backends are compared with keeps the contract itself.
func TestModel(t *testing.T) {
	storagetest.Run(t, storagetest.Backend{
		Open: func(*testing.T) storage.Store { return storagetest.NewModel() },
	})
}

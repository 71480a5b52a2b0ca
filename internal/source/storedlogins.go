package source

import (
	"context"
	"errors"
	"fmt"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// storedLogins is the store in Helm's registry config, or in the credential helper named there. Each
// change reads the file anew under a lock: a store of oras-go keeps what it has read and writes the whole
// file (2.6.4, registry/remote/credentials/internal/config, PutCredential), so that of two logins at the
// same time only one was kept.
type storedLogins struct{ paths Paths }

// Get implements credentials.Store.
func (l storedLogins) Get(ctx context.Context, server string) (auth.Credential, error) {
	store, err := l.open()
	if err != nil {
		return auth.EmptyCredential, err
	}
	return store.Get(ctx, server)
}

// Put implements credentials.Store.
func (l storedLogins) Put(ctx context.Context, server string, login auth.Credential) error {
	return l.change(ctx, func(store credentials.Store) error { return store.Put(ctx, server, login) })
}

// Delete implements credentials.Store.
func (l storedLogins) Delete(ctx context.Context, server string) error {
	return l.change(ctx, func(store credentials.Store) error { return store.Delete(ctx, server) })
}

// change changes the store under the lock of hosts.yaml, which lies beside the file. Where there can be
// no lock, as in a folder that is read only, only a helper can keep anything.
func (l storedLogins) change(ctx context.Context, change func(credentials.Store) error) error {
	unlock, err := locked(ctx, l.paths.hosts()+".lock")
	switch {
	case err == nil:
		defer unlock()
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	store, err := l.open()
	if err != nil {
		return err
	}
	return change(store)
}

func (l storedLogins) open() (credentials.Store, error) {
	store, err := credentials.NewStore(l.paths.RegistryConfig, credentials.StoreOptions{AllowPlaintextPut: true, DetectDefaultNativeStore: true})
	if err != nil {
		return nil, fmt.Errorf("read the credentials in %s: %w", l.paths.RegistryConfig, err)
	}
	return store, nil
}

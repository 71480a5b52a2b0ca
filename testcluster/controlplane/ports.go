package controlplane

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ports reserves TCP ports on the loopback address for servers that start later.
// A port is bound with SO_REUSEPORT and never listened on: the kernel gives it
// to nobody else, but a server that also sets SO_REUSEPORT may listen on it.
type ports struct {
	sockets []int
}

// take returns the number of a port that is reserved until release.
func (p *ports) take() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, fmt.Errorf("open a socket: %w", err)
	}
	unix.CloseOnExec(socket)
	p.sockets = append(p.sockets, socket)
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, fmt.Errorf("share a socket's port: %w", err)
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("bind a free port: %w", err)
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("read the port of a socket: %w", err)
	}
	inet, ok := address.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("read the port of a socket: address is a %T", address)
	}
	return inet.Port, nil
}

// takeMany returns n ports.
func (p *ports) takeMany(n int) ([]int, error) {
	taken := make([]int, 0, n)
	for range n {
		port, err := p.take()
		if err != nil {
			return nil, err
		}
		taken = append(taken, port)
	}
	return taken, nil
}

// release frees all ports.
func (p *ports) release() error {
	var errs []error
	for _, socket := range p.sockets {
		errs = append(errs, unix.Close(socket))
	}
	p.sockets = nil
	return errors.Join(errs...)
}

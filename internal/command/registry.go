package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

func (p *program) registryCommand() *cli.Command {
	return &cli.Command{
		Name: "registry", Usage: "log in to registries, and out of them", ArgsUsage: "login|logout",
		Description: describe("Manages credentials for registries, in Helm's file or in the helper that it names.\nThose of Docker and Podman are read, too.", "kubectl release registry login ghcr.io -u ci --password-stdin"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{p.registryLoginCommand(), p.registryLogoutCommand()},
	}
}

// loginFlags are the flags of registry login.
type loginFlags struct {
	accessFlags
	passwordFromStdin bool
}

func (p *program) registryLoginCommand() *cli.Command {
	var o loginFlags
	text := func(name string, to *string, usage string, aliases ...string) cli.Flag {
		return &cli.StringFlag{Name: name, Destination: to, Aliases: aliases, Usage: usage}
	}
	return &cli.Command{
		Name: "login", Usage: "log in to a registry", ArgsUsage: "HOST",
		Description: describe(`Checks the user name and password with the registry, and stores them. Without a user name,
the password is a token. Flags about the registry's certificate or TLS are stored, too, for
every later command that connects to it.`, "kubectl release registry login ghcr.io -u ci --password-stdin"),
		Flags: joined([]cli.Flag{
			text("username", &o.Username, "user name", "u"), text("password", &o.Password, "password or token; --password-stdin does not expose it", "p"),
			passwordStdinFlag(&o.passwordFromStdin),
			&cli.BoolFlag{Name: "insecure", Destination: &o.Insecure, Usage: "do not check the registry's certificate"},
			o.plainHTTPFlag(), text("cert-file", &o.CertFile, "client certificate `FILE`"), text("key-file", &o.KeyFile, "client key `FILE`"), text("ca-file", &o.CAFile, "`FILE` of certificate authorities"),
		}, p.paths.flags()),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error { return p.registryLogin(ctx, &o, args[0]) })),
	}
}

func (p *program) registryLogin(ctx context.Context, o *loginFlags, host string) error {
	switch {
	case strings.Contains(host, "@"):
		return usage("the name of a registry has no user or password: use --username and --password-stdin")
	case strings.Contains(host, "/"):
		return usage("%q is not a registry: give only its host and port", host)
	}
	access := o.accessFlags
	access.Username, access.Password = "", "" // these are read below
	s, err := p.registry(&access)
	if err != nil {
		return err
	}
	user, password, err := p.userAndPassword(o)
	if err != nil {
		return err
	}
	kept, err := s.Login(ctx, host, user, password)
	if err != nil {
		return &codedError{err, exitError} // not exitRefused: the credentials are what the command checks
	}
	fmt.Fprintln(p.streams.Err, "Login Succeeded")
	if kept != (resolve.Server{}) {
		fmt.Fprintf(p.streams.Err, "Remembered for every command that connects to %s, until logout: %s\n", host, kept)
	}
	return nil
}

// userAndPassword returns the credentials that the flags give, or asks for them. Without a user
// name, the password is a token.
func (p *program) userAndPassword(o *loginFlags) (user, password string, err error) {
	user = o.Username
	if user == "" && o.Password == "" && !o.passwordFromStdin {
		if !terminal.Is(p.raw.In) {
			return "", "", errors.New("there is no terminal to ask on: use --username and --password-stdin")
		}
		fmt.Fprint(p.streams.Err, "Username: ")
		if user, err = bufio.NewReader(p.streams.In).ReadString('\n'); err != nil {
			return "", "", fmt.Errorf("read the user name: %w", err)
		}
		if user = strings.TrimSpace(user); user == "" {
			password, err = p.typed("Token")
			return "", password, err
		}
	}
	password, err = p.password(user, o.Password, o.passwordFromStdin)
	if err == nil && password == "" {
		err = errors.New("the password is empty")
	}
	return user, password, err
}

func (p *program) registryLogoutCommand() *cli.Command {
	return &cli.Command{
		Name: "logout", Usage: "remove the credentials of a registry", ArgsUsage: "HOST",
		Description: describe("Removes what login has stored.", "kubectl release registry logout ghcr.io"),
		Flags:       p.paths.flags(),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error {
			if strings.Contains(args[0], "@") {
				return usage("the name of a registry has no user or password: give only its host and port")
			}
			s, err := p.repositories()
			if err != nil {
				return err
			}
			if err := s.Logout(ctx, args[0]); err != nil {
				return err
			}
			fmt.Fprintf(p.streams.Err, "Removing login credentials for %s\n", args[0])
			return nil
		})),
	}
}

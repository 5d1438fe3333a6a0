package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/ory/fosite"
)

// Store keeps what fosite asks it to in PostgreSQL. fosite ships none for a database: each method does what the
// comment of its interface says, in the transaction that fosite begins.
type Store struct {
	fosite.ClientManager
	pool *pgxpool.Pool
}

const schema = `
	create table sessions (
		kind text,
		signature text,
		request_id text not null,
		client_id text not null,
		request jsonb not null,
		active boolean not null default true,
		primary key (kind, signature)
	);
	create index on sessions (kind, request_id);
`

type transaction struct{}

func (s *Store) BeginTX(ctx context.Context) (context.Context, error) {
	tx, err := s.pool.Begin(ctx)
	return context.WithValue(ctx, transaction{}, tx), err
}

func (s *Store) Commit(ctx context.Context) error {
	return ctx.Value(transaction{}).(pgx.Tx).Commit(ctx)
}

func (s *Store) Rollback(ctx context.Context) error {
	return ctx.Value(transaction{}).(pgx.Tx).Rollback(ctx)
}

type database interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

func (s *Store) database(ctx context.Context) database {
	if tx, ok := ctx.Value(transaction{}).(pgx.Tx); ok {
		return tx
	}
	return s.pool
}

func (s *Store) create(ctx context.Context, kind, signature string, r fosite.Requester) error {
	request, err := json.Marshal(fosite.Request{
		ID:                r.GetID(),
		RequestedAt:       r.GetRequestedAt(),
		RequestedScope:    r.GetRequestedScopes(),
		GrantedScope:      r.GetGrantedScopes(),
		RequestedAudience: r.GetRequestedAudience(),
		GrantedAudience:   r.GetGrantedAudience(),
		Form:              r.GetRequestForm(),
		Session:           r.GetSession(),
	})
	if err != nil {
		return err
	}
	_, err = s.database(ctx).Exec(ctx,
		`insert into sessions (kind, signature, request_id, client_id, request) values ($1, $2, $3, $4, $5)`,
		kind, signature, r.GetID(), r.GetClient().GetID(), request)
	return err
}

func (s *Store) get(ctx context.Context, kind, signature string, session fosite.Session) (fosite.Requester, bool, error) {
	var client string
	var data []byte
	var active bool
	row := s.database(ctx).QueryRow(ctx,
		`select client_id, request, active from sessions where kind = $1 and signature = $2`,
		kind, signature)
	if err := row.Scan(&client, &data, &active); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			err = fosite.ErrNotFound
		}
		return nil, false, err
	}
	request := fosite.NewRequest()
	request.Session = session
	if err := json.Unmarshal(data, request); err != nil {
		return nil, false, err
	}
	var err error
	request.Client, err = s.GetClient(ctx, client)
	return request, active, err
}

func (s *Store) remove(ctx context.Context, kind, signature string) error {
	_, err := s.database(ctx).Exec(ctx,
		`delete from sessions where kind = $1 and signature = $2`, kind, signature)
	return err
}

func (s *Store) CreateAuthorizeCodeSession(ctx context.Context, signature string, r fosite.Requester) error {
	return s.create(ctx, "code", signature, r)
}

func (s *Store) GetAuthorizeCodeSession(ctx context.Context, signature string, session fosite.Session) (fosite.Requester, error) {
	request, active, err := s.get(ctx, "code", signature, session)
	if err == nil && !active {
		err = fosite.ErrInvalidatedAuthorizeCode
	}
	return request, err
}

func (s *Store) InvalidateAuthorizeCodeSession(ctx context.Context, signature string) error {
	_, err := s.database(ctx).Exec(ctx,
		`update sessions set active = false where kind = 'code' and signature = $1`, signature)
	return err
}

func (s *Store) CreateAccessTokenSession(ctx context.Context, signature string, r fosite.Requester) error {
	return s.create(ctx, "access", signature, r)
}

func (s *Store) GetAccessTokenSession(ctx context.Context, signature string, session fosite.Session) (fosite.Requester, error) {
	request, _, err := s.get(ctx, "access", signature, session)
	return request, err
}

func (s *Store) DeleteAccessTokenSession(ctx context.Context, signature string) error {
	return s.remove(ctx, "access", signature)
}

func (s *Store) RevokeAccessToken(ctx context.Context, requestID string) error {
	_, err := s.database(ctx).Exec(ctx,
		`delete from sessions where kind = 'access' and request_id = $1`, requestID)
	return err
}

func (s *Store) CreatePKCERequestSession(ctx context.Context, signature string, r fosite.Requester) error {
	return s.create(ctx, "pkce", signature, r)
}

func (s *Store) GetPKCERequestSession(ctx context.Context, signature string, session fosite.Session) (fosite.Requester, error) {
	request, _, err := s.get(ctx, "pkce", signature, session)
	return request, err
}

func (s *Store) DeletePKCERequestSession(ctx context.Context, signature string) error {
	return s.remove(ctx, "pkce", signature)
}

// No client has the scope for refresh tokens.

func (s *Store) CreateRefreshTokenSession(context.Context, string, string, fosite.Requester) error {
	return fosite.ErrServerError
}

func (s *Store) GetRefreshTokenSession(context.Context, string, fosite.Session) (fosite.Requester, error) {
	return nil, fosite.ErrNotFound
}

func (s *Store) DeleteRefreshTokenSession(context.Context, string) error { return nil }

func (s *Store) RotateRefreshToken(context.Context, string, string) error {
	return fosite.ErrServerError
}

func (s *Store) RevokeRefreshToken(context.Context, string) error { return nil }

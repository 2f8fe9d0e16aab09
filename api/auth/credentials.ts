// Where credentials stand in a request, and the cookie that carries one.
import { parseCookie, stringifySetCookie } from 'cookie'

export const sessionCookie = 'gslb_session'

/** The `Bearer` credential (RFC 6750 section 2.1); null: there is none. */
export function bearerOf(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}

export function sessionTokenOf(cookies: string | undefined): string | null {
  if (cookies === undefined) return null
  const token = parseCookie(cookies)[sessionCookie]
  return token === undefined || token === '' ? null : token
}

/** @param ttlMs the life of the session; 0 removes the cookie */
export function setSessionCookie(token: string, ttlMs: number, isSecure: boolean): string {
  return stringifySetCookie({
    name: sessionCookie,
    value: token,
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure,
    maxAge: Math.floor(ttlMs / 1_000),
  })
}

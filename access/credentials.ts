// Extracts credentials from a request, and builds the session cookie.
import { parseCookie, stringifySetCookie } from 'cookie'

export const sessionCookie = 'gslb_session'
/** Binds a login to the browser in which it began. */
const loginCookie = 'gslb_login'

/** The `Bearer` credential (RFC 6750 section 2.1); null: there is none. */
export function bearerOf(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}

/** The password of `Basic` (RFC 7617), or all of it where there is no user; null: there is none. */
export function basicPasswordOf(authorization: string | undefined): string | null {
  const [, basic] = /^basic +(\S+) *$/i.exec(authorization ?? '') ?? []
  if (basic === undefined) return null
  const text = Buffer.from(basic, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

export function sessionTokenOf(cookies: string | undefined): string | null {
  return cookieOf(cookies, sessionCookie)
}

export function loginTokenOf(cookies: string | undefined): string | null {
  return cookieOf(cookies, loginCookie)
}

function cookieOf(cookies: string | undefined, name: string): string | null {
  if (cookies === undefined) return null
  const value = parseCookie(cookies)[name]
  return value === undefined || value === '' ? null : value
}

/** @param ttlMs life of the session; 0 removes the cookie */
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

/** Lax, since the page of the identity provider, another site, sends the browser back. */
export function setLoginCookie(token: string, ttlMs: number, isSecure: boolean): string {
  return stringifySetCookie({
    name: loginCookie,
    value: token,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure,
    maxAge: Math.floor(ttlMs / 1_000),
  })
}

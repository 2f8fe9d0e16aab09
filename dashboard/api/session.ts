// Holds the signed-in user and the user's permissions.
import { batch, computed, signal } from '@preact/signals'
import type { paths } from 'openapi-of-gslbd'
import { Refusal, beginSession, read, send, sentence } from './client.ts'

type Me = paths['/api/v1/auth/me']['get']['responses'][200]['content']['application/json']
type Config = paths['/api/v1/auth/config']['get']['responses'][200]['content']['application/json']

/** undefined: not known yet; null: nobody is signed in. */
export const me = signal<Me | null | undefined>(undefined)
export const authConfig = signal<Config | null>(null)
/** Why neither can be known. */
export const startFault = signal('')

const held = computed(() => new Set(me.value?.permissions))

/** @param needs the `x-permission` of the API's document */
export function can(needs: string): boolean {
  const who = me.value
  if (needs === 'public') return true
  if (who === null || who === undefined) return false
  if (needs === 'any') return true
  if (needs === 'session') return who.id !== null
  if (needs === 'system') return who.isSystemAdmin
  return held.value.has(needs)
}

/** Why the licence does not permit a feature; empty: it does. */
export const lackOf = (feature: string): string =>
  me.value?.unlicensed.find((one) => one.feature === feature)?.reason ?? ''

/** Reloads the permissions of the signed-in user: a new role or licence changes them. */
export async function learnAgain(): Promise<void> {
  const before = me.value
  const who = await whoIsIn()
  // A late response must not bring a user back who has signed out.
  if (me.value !== before) return
  const isSame = JSON.stringify(who) === JSON.stringify(me.value)
  if (who !== null && !isSame) me.value = who
}

export async function learnWho(): Promise<void> {
  startFault.value = ''
  try {
    const config = await read('/api/v1/auth/config')
    const who = await whoIsIn()
    batch(() => {
      authConfig.value = config
      me.value = who
      if (who !== null) beginSession()
    })
  } catch (error) {
    startFault.value = sentence(error)
  }
}

async function whoIsIn(): Promise<Me | null> {
  try {
    return await read('/api/v1/auth/me')
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return null
    throw error
  }
}

interface Credentials {
  readonly email: string
  readonly password: string
  readonly totpCode?: string
}

/**
 * Signs in by a session cookie.
 *
 * @returns whether the code of the authenticator app is needed as well
 */
export async function signIn({ email, password, totpCode = '' }: Credentials): Promise<boolean> {
  const body = { email, password, ...(totpCode === '' ? {} : { totpCode }) }
  try {
    await send('/api/v1/auth/login', { method: 'POST', body })
  } catch (error) {
    const { mfaRequired } = ((error as Refusal).body ?? {}) as { readonly mfaRequired?: boolean }
    if (mfaRequired === true && totpCode === '') return true
    throw error
  }
  await learnWho()
  return false
}

/** @param isEverywhere true: ends all sessions of this account */
export async function signOut(isEverywhere: boolean): Promise<void> {
  const query = isEverywhere ? '?everywhere=true' : ''
  await send(`/api/v1/auth/logout${query}`, { method: 'POST' })
  me.value = null
}

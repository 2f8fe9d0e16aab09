// Knows the signed-in user, and what that user may do.
import { batch, computed, signal } from '@preact/signals'
import type { paths } from 'openapi-of-gslbd'
import { Refusal, isSessionOver, read, send, sentence } from './client.ts'

export type Me = paths['/api/v1/auth/me']['get']['responses'][200]['content']['application/json']
type Config = paths['/api/v1/auth/config']['get']['responses'][200]['content']['application/json']

/** undefined: not known yet; null: nobody. */
export const me = signal<Me | null | undefined>(undefined)
export const authConfig = signal<Config | null>(null)
/** Why nothing can be known of either, in words. */
export const startFault = signal('')

const held = computed(() => new Set(me.value?.permissions))

/** @param needs as `x-permission` of the API's document says it */
export function can(needs: string): boolean {
  const who = me.value
  if (needs === 'public') return true
  if (who === null || who === undefined) return false
  if (needs === 'any') return true
  if (needs === 'session') return who.id !== null
  if (needs === 'system') return who.isSystemAdmin
  return held.value.has(needs)
}

/** Why the licence forbids a feature, in the API's words; empty: it does not. */
export const lackOf = (feature: string): string =>
  me.value?.unlicensed.find((one) => one.feature === feature)?.reason ?? ''

/** Reloads the permissions of the signed-in user: a new role or licence changes them. */
export async function learnAgain(): Promise<void> {
  const before = me.value
  const who = await whoIsIn()
  // A late answer must not sign a user in again who has left meanwhile.
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
      if (who !== null) isSessionOver.value = false
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

export interface Credentials {
  readonly email: string
  readonly password: string
  readonly totpCode?: string
}

/** The cookie is the session. @returns whether the code of the authenticator app is wanted, too */
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

/** @param isEverywhere in every browser that this account is signed in with */
export async function signOut(isEverywhere: boolean): Promise<void> {
  const query = isEverywhere ? '?everywhere=true' : ''
  await send(`/api/v1/auth/logout${query}`, { method: 'POST' })
  me.value = null
}

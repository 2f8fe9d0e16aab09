// A pool as the API shows it, and as it takes it (document A, "Pool").
import { Type } from 'typebox'
import type { ConfigEntry } from '#config/entry.ts'
import { Metadata } from '#schemas/objects/metadata.ts'
import { body } from '#api/http/shapes.ts'
import { plain } from './fields.ts'

export const Pool = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'Pool' })

export const PoolBody = body({ name: plain(Metadata.properties.name) })

export function showPool({ uid, name }: ConfigEntry) {
  return { id: uid, name }
}

// Stores the DS records that the parents of signed zones were last seen to have: the checks of
// delegated domains write them, and the guardrails read them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ParentDs, ParentOfZone } from '#compiler/lower/name-outline.ts'
import { gitLimits } from '#gitops/limits.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { fieldsOf, isFields, parseJson } from '#lib/text/json.ts'

export const parentDsPathOf = (dataDir: string): string => join(dataDir, 'gitops/parent-ds.json')

function isParent(value: unknown): value is ParentOfZone {
  const { ds, rolls } = fieldsOf(value)
  return Array.isArray(ds) && ds.every((one) => typeof one === 'string') && isBoolean(rolls)
}

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'

/** Where there is no file that can be read, nothing was seen: guardrails hold nothing for it. */
export function readParentDs(path: string): ParentDs {
  try {
    return parentDsOf(readFileSync(path, 'utf8'))
  } catch {
    return new Map()
  }
}

function parentDsOf(text: string): ParentDs {
  const value = text.length <= gitLimits.parentDsTextMax ? parseJson(text) : undefined
  if (!isFields(value)) return new Map()
  const all = Object.entries(value)
  return new Map(all.filter((each): each is [string, ParentOfZone] => isParent(each[1])))
}

/** @throws the file system's error; what was there then stands */
export function writeParentDs(path: string, seen: ParentDs): void {
  const text = `${JSON.stringify(Object.fromEntries(seen), null, 2)}\n`
  if (text.length <= gitLimits.parentDsTextMax) writeDurably(path, text)
}

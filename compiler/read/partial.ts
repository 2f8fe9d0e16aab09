// Runs rules on an object with faulty fields, as far as they do not read those.
import type { YamlPath } from '#diagnostics/diagnostic.ts'

/** Faulty fields below a mapping or a list, by key or position. */
interface Faulty {
  readonly below: Map<string, Faulty>
  isItself: boolean
}

/**
 * Runs each of `looks` on `object` until it reads a faulty field. Findings reported before depend
 * on no faulty field, so none is the echo of another mistake.
 *
 * @param paths paths of faulty fields
 */
export function lookAround<T extends object>(
  object: T,
  paths: readonly YamlPath[],
  looks: readonly ((object: T) => void)[],
): void {
  const all = faultyIn(paths)
  if (all.isItself) return
  const shown = guarded(object, all)
  for (const look of looks) {
    try {
      look(shown)
    } catch (error) {
      if (error !== touched) throw error
    }
  }
}

/** Thrown, because only an exception ends a rule anywhere; it never leaves this file. */
const touched = new Error('a faulty field was looked at')

function faultyIn(paths: readonly YamlPath[]): Faulty {
  const all: Faulty = { below: new Map(), isItself: false }
  for (const path of paths) {
    let here = all
    for (const step of path) {
      const next = here.below.get(String(step)) ?? { below: new Map(), isItself: false }
      here.below.set(String(step), next)
      here = next
    }
    here.isItself = true
  }
  return all
}

function guarded<T extends object>(object: T, faulty: Faulty): T {
  const look = (key: string | symbol): Faulty | undefined => {
    const found = typeof key === 'string' ? faulty.below.get(key) : undefined
    if (found?.isItself === true) throw touched
    return found
  }
  return new Proxy(object, {
    get: (target, key) => {
      const found = look(key)
      const value: unknown = Reflect.get(target, key)
      const isOnTheWay = found !== undefined && typeof value === 'object' && value !== null
      return isOnTheWay ? guarded(value, found) : value
    },
    has: (target, key) => {
      look(key)
      return Reflect.has(target, key)
    },
    getOwnPropertyDescriptor: (target, key) => {
      look(key)
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
    ownKeys: (target) => {
      for (const key of faulty.below.keys()) look(key)
      return Reflect.ownKeys(target)
    },
  })
}

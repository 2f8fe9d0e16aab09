// Tells services that answer with a CNAME, which must be alone at their name. RFC 1034 section
// 3.6.2.
import type { Entry, Tree } from './tree.ts'

export function isAliasService(
  { poolNamed }: Pick<Tree, 'poolNamed'>,
  { object, tenant }: Entry<'Service'>,
): boolean {
  const pool = object.spec.pool === null ? undefined : poolNamed.get(object.spec.pool)
  return pool?.tenant === tenant && pool.object.spec.answer === 'cname'
}

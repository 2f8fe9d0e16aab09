// Names authors of commits: an account by its e-mail address, for readers who may see accounts.
import { read } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { can, me } from '../api/session.ts'

/** @returns the name of the `author` of a commit, `user:ID <user:ID@…>` or what Git says */
export function useAuthors(): (author: string) => string {
  const maySee = can('user:read')
  const { value = [] } = useLoad(`authors ${maySee}`, async () =>
    maySee ? read('/api/v1/users') : [],
  )
  const emails = new Map(value.map(({ id, email }) => [id, email]))
  const who = me.value
  if (who?.id && who.email !== null) emails.set(who.id, who.email)
  return (author) => {
    const name = author.replace(/\s*<[^>]*>$/, '')
    const id = /^user:(.+)$/.exec(name)?.[1]
    return (id !== undefined && emails.get(id)) || name
  }
}

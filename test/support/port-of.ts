// Makes a port from the calls that a test needs: any other call fails with a message.
export function portOf<Port extends object>(
  name: string,
  calls: Partial<NoInfer<Port>> = {},
): Port {
  return new Proxy(calls as Port, {
    get: (given, call): unknown =>
      Reflect.has(given, call)
        ? Reflect.get(given, call)
        : () => {
            throw new Error(`this test brings no ${name}, but ${String(call)} was called`)
          },
  })
}

/** Sets an own member, also one named `__proto__`, which assignment would take for the prototype. */
export function setMember<T>(members: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__") {
    Object.defineProperty(members, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    members[name] = value;
  }
}

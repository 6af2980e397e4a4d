package io.s3e.client.library;

import io.s3e.client.library.CrtNeeds.Member;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URL;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the classes that a loader finds have what {@link CrtNeeds} lists, all of them from one
 * jar. Loads classes and initializes none. Used by one thread.
 */
final class LinkCheck {
  private final ClassLoader loader;
  private final @Nullable URL jar;
  private final Map<Class<?>, Set<Member>> declared = new HashMap<>();

  /**
   * @param jar where all classes of aws-crt must come from
   */
  LinkCheck(ClassLoader loader, @Nullable URL jar) {
    this.loader = loader;
    this.jar = jar;
  }

  /** The jar or directory that a class comes from; null if its loader does not tell. */
  static @Nullable URL jarOf(Class<?> type) {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    return source == null ? null : source.getLocation();
  }

  /** The missing members, in words; empty if the needs are met. */
  List<String> lacking(CrtNeeds needs) {
    List<String> lacking = new ArrayList<>();
    for (String name : needs.classes()) {
      String problem = problemOf(name);
      if (problem != null) {
        lacking.add(problem);
      }
    }
    if (lacking.isEmpty()) {
      for (Member member : needs.members()) {
        if (!has(member)) {
          lacking.add(member.toString());
        }
      }
    }
    return lacking;
  }

  private @Nullable String problemOf(String className) {
    try {
      URL from = jarOf(Class.forName(className, false, loader));
      // By their texts: URLs compare hosts by asking the name service.
      boolean same = Objects.toString(from).equals(Objects.toString(jar));
      return same ? null : className + ", which comes from " + from;
    } catch (ClassNotFoundException | LinkageError e) {
      return className;
    }
  }

  private boolean has(Member member) {
    try {
      return find(Class.forName(member.owner(), false, loader), member);
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }

  /** Looks where the JVM would: in the class, its superclass, its interfaces, and in Object. */
  private boolean find(@Nullable Class<?> type, Member member) {
    if (type == null) {
      return false;
    }
    Member here = new Member(type.getName(), member.name(), member.descriptor());
    if (declared.computeIfAbsent(type, LinkCheck::membersOf).contains(here)) {
      return true;
    }
    Class<?> parentClass = type.isInterface() ? Object.class : type.getSuperclass();
    return !member.name().equals("<init>")
        && (find(parentClass, member)
            || Arrays.stream(type.getInterfaces()).anyMatch(parent -> find(parent, member)));
  }

  private static Set<Member> membersOf(Class<?> type) {
    Set<Member> members = new LinkedHashSet<>();
    String owner = type.getName();
    for (Field field : type.getDeclaredFields()) {
      members.add(new Member(owner, field.getName(), field.getType().descriptorString()));
    }
    for (Method method : type.getDeclaredMethods()) {
      members.add(
          member(owner, method.getName(), method.getReturnType(), method.getParameterTypes()));
    }
    for (Constructor<?> constructor : type.getDeclaredConstructors()) {
      members.add(member(owner, "<init>", void.class, constructor.getParameterTypes()));
    }
    return members;
  }

  private static Member member(String owner, String name, Class<?> result, Class<?>... parameters) {
    return new Member(owner, name, MethodType.methodType(result, parameters).descriptorString());
  }
}
